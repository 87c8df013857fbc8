"""Hand-made curves through published nets: claims plainly hold, fail, or all is flat."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache

import pandas as pd

from reproductions.asymvalley.published.experiment import DEPTHS, MADE, NETS_AND_KINDS
from tests.reproductions.asymvalley.valleys.hand_made import LAMBDAS, SEEDS, Case, TableOf

RATIOS = (0.0, 0.5, 1.0)
HOLDS = {"theta_f": 0.4, "sign": 0.5, "sign_centred": 0.35, "sgp": 0.05, "sgp_centred": -0.05}
FAILS = {"theta_f": 0.01, "sign": 0.02, "sign_centred": 0.015, "sgp": 0.4, "sgp_centred": 0.41}


def published(case: Case) -> pd.DataFrame:
    """Three nets.

    Holds: sign-consistent noise has an asymmetry of 0.5, raw noise one of 0.02. Fails: raw noise
    has the 0.5 and sign-consistent noise 0.02; the best temperature makes the loss larger.
    """
    rows: list[dict[str, object]] = []
    for seed, (depth, kind), ratio in itertools.product(SEEDS, NETS_AND_KINDS, RATIOS):
        size = 0.02 + 0.48 * (ratio if case == "holds" else 1.0 - ratio) + 0.001 * seed
        size = size if case == "holds" or ratio < 1.0 else -size
        rows += curve(case, size, depth=depth, along=kind, ratio=ratio, seed=seed)
    for depth, made in itertools.product(DEPTHS, MADE):
        size = (HOLDS if case == "holds" else FAILS)[made]
        rows += curve(case, size, depth=depth, along=made, ratio=0.0, seed=0)
    return pd.DataFrame(rows)


def curve(case: Case, size: float, **place: object) -> Iterator[dict[str, object]]:
    """Yield a curve that has one error on each side, apart by `size`."""
    for where in LAMBDAS:
        error = 0.1 if where == 0 else 0.4 - size / 2 if where > 0 else 0.4 + size / 2
        if case == "fails" and where == 0:
            error += 1e-6 * len(str(place))
        error = 0.9 if case == "flat" else error
        scaled = 3.5 * error if case == "fails" else 2.0 * error
        point = {"lambda": where, "error": error, "ce": 3.0 * error, "scaled_ce": scaled}
        yield {**place, **point, "sign_consistency": 0.5}


TABLES: dict[str, TableOf] = {"published_nets": cache(published)}
"""Made once: to be read, not written."""
