"""Hand-made tables of Table 1, in which each claim plainly holds, plainly fails, or ties."""

from __future__ import annotations

import itertools
from functools import cache

import pandas as pd

from reproductions.asymvalley.federated.experiment import ALGORITHMS, ALPHAS
from tests.reproductions.asymvalley.valleys.hand_made import SEEDS, Case, TableOf

CHECKS = ("gamma_zero", "penalty_gradient", "uniform_average", "workers")


def accuracies(case: Case) -> pd.DataFrame:
    """Holds: FedSign leads by a point, all fall with alpha. Fails: it trails, and all rise."""
    sign = {"holds": 1.0, "fails": -1.0, "flat": 0.0}[case]
    rows: list[dict[str, object]] = []
    datasets = ("cifar10", "cinic10")
    for seed, dataset, (place, alpha), algorithm in itertools.product(
        SEEDS, datasets, enumerate(ALPHAS), (*ALGORITHMS, "fedsign_tenth")
    ):
        ahead = sign * 0.02 * algorithm.startswith("fedsign")
        cell = {"dataset": dataset, "alpha": alpha, "algorithm": algorithm, "seed": seed}
        found = {
            "test_accuracy": 0.85 + ahead - sign * 0.03 * place + 0.001 * seed,
            "same_sign_ratio": 0.95 + ahead + 0.001 * seed,
        }
        data = "mnist" if dataset == "cinic10" else dataset
        rows.append({"part": "final", **cell, "data": data, "check": "", "round": 25, **found})
    for check in CHECKS:
        cell = {"dataset": "", "alpha": 1.0, "algorithm": "", "seed": 0}
        apart = 1e-6 if case == "fails" else 0.0
        rows.append(
            {"part": "check", **cell, "check": check, "round": 0, "max_abs_difference": apart}
        )
    return pd.DataFrame(rows)


TABLES: dict[str, TableOf] = {"tab01": cache(accuracies)}
"""Made once: to be read, not written."""
