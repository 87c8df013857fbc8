"""Hand-made trained nets: the claim plainly holds, fails, or ties."""

from __future__ import annotations

import itertools
from functools import cache

import pandas as pd

from tests.reproductions.asymvalley.valleys.hand_made import SEEDS, Case, TableOf


def trained_nets(case: Case) -> pd.DataFrame:
    """Four nets: cosines of 0.02 in size where the claim holds, else one of -0.3."""
    rows = []
    nets = (
        ("vgg16_cifar10", "base", "ones", 0.02),
        ("vgg16_cifar10", "lr_high", "ones", -0.3 if case == "fails" else -0.02),
        ("vgg16_cifar10", "base", "gaussian", 0.01),
        ("vgg11_cifar100", "base", "ones", 0.1 if case == "flat" else 0.0),
    )
    for seed, (pair, recipe, start, cosine) in itertools.product(SEEDS, nets):
        tie = 0.001 * (seed - 1)
        rows.append(
            {
                **{"pair": pair, "recipe": recipe, "bn_start": start, "seed": seed},
                **{"train_error": 0.0, "test_error": 0.1 + 0.01 * seed, "test_ce": 0.4},
                **{"norm": 30.0, "init_sign_agreement": 0.8, "sign_gradient_cosine": cosine + tie},
                "bn_positive_share": float("nan") if pair == "vgg11_cifar100" else 0.99,
            }
        )
    return pd.DataFrame(rows)


TABLES: dict[str, TableOf] = {"gradient": cache(trained_nets)}
"""Made once: to be read, not written."""
