"""Hand-made tables of Table 1, in which each claim plainly holds, or plainly fails."""

from __future__ import annotations

import pandas as pd

from reproductions.asymvalley.federated.experiment import ALGORITHMS

ALPHAS = (10.0, 1.0, 0.5)
CHECKS = ("gamma_zero", "penalty_gradient", "uniform_average", "workers")


def table(holds: bool, num_seeds: int = 3) -> pd.DataFrame:
    """Holds: FedSign leads by a point, all fall with alpha. Fails: it trails, and all rise."""
    sign = 1.0 if holds else -1.0
    rows: list[dict[str, object]] = []
    for seed in range(num_seeds):
        for dataset in ("cifar10", "cinic10"):
            for place, alpha in enumerate(ALPHAS):
                for algorithm in ALGORITHMS:
                    ahead = sign * 0.02 * (algorithm == "fedsign")
                    fall = -sign * 0.03 * place
                    rows.append(
                        {
                            "part": "final",
                            "dataset": dataset,
                            "data": "mnist" if dataset == "cinic10" else dataset,
                            "alpha": alpha,
                            "algorithm": algorithm,
                            "check": "",
                            "round": 25,
                            "seed": seed,
                            "test_accuracy": 0.7 + ahead + fall + 0.001 * seed,
                            "same_sign_ratio": 0.95 + ahead + 0.001 * seed,
                        }
                    )
    for check in CHECKS:
        rows.append(
            {
                "part": "check",
                "dataset": "",
                "alpha": 1.0,
                "algorithm": "",
                "check": check,
                "round": 0,
                "seed": 0,
                "max_abs_difference": 0.0 if holds else 1e-6,
            }
        )
    return pd.DataFrame(rows)
