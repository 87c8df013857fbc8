"""Hand-made starts and BN statistics: claims plainly hold, fail, or tie."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache

import pandas as pd

from reproductions.asymvalley.models.pairs import BN_STARTS
from tests.reproductions.asymvalley.valleys.hand_made import SEEDS, Case, TableOf

LAMBDAS = tuple(step / 5 for step in range(-5, 6))


def valley(
    case: Case, asymmetry: float, *, level: float = 0.3, x: str = "lambda", **place: object
) -> Iterator[dict[str, object]]:
    """Yield a curve of three seeds and two draws, steeper on one side by `asymmetry` in the mean.

    Where claims fail, draws and places disagree at the centre; flat curves have no slope.
    """
    for seed, draw, where in itertools.product(SEEDS, range(2), LAMBDAS):
        # The mean of abs(lambda) over a side is 0.6.
        slope = (level + (asymmetry if where < 0 else 0.0) + 0.002 * seed + 0.001 * draw) / 0.6
        error = 0.0 if case == "flat" else slope * abs(where)
        if case == "fails" and where == 0.0:
            error = 0.001 * draw + 1e-6 * len(str(place))
        yield {**place, "draw": draw, x: where, "seed": seed, "error": error, "ce": 3.0 * error}


def starts(case: Case) -> pd.DataFrame:
    """Three starts of BN weights.

    Holds: two are asymmetric by 0.4 under noise on BN weights and by 0.02 under that on all,
    the third by 0.02 and 0.005. Fails: the third alone is asymmetric.
    """
    rows: list[dict[str, object]] = []
    for start in BN_STARTS:
        strong = (start != "gaussian") == (case != "fails")
        sizes = {
            ("ns", "bn", 1.0): 0.4 if strong else 0.02,
            ("ns", "all", 1.0): 0.05,
            ("filter_ns", "all", 0.2): 0.02 if strong else 0.005,
            ("filter_ns", "all", 1.0): 0.0 if strong else 0.3,
        }
        for (norm, group, s), size in sizes.items():
            place = {"bn_start": start, "part": "curve", "norm": norm, "group": group, "s": s}
            rows += valley(case, size, x="x", **place)
        rows += _weights(start, positive=0.99 if strong else 0.5)
    return pd.DataFrame(rows)


def _weights(start: str, *, positive: float) -> Iterator[dict[str, object]]:
    place = {"bn_start": start, "norm": "", "group": "", "s": 0.0, "draw": 0}
    for seed in SEEDS:
        for step in range(11):
            weight = 0.2 + (step - 5) * 0.04 + 0.002 * seed
            yield {**place, "part": "quantile", "x": step / 10, "seed": seed, "bn_weight": weight}
        value = positive + 0.001 * seed
        yield {**place, "part": "share", "x": 0.0, "seed": seed, "bn_weight": value}


def statistics(case: Case) -> pd.DataFrame:
    """Two kinds of BN statistics of two nets: frozen ones add 0.3, or 0.05 where claims fail."""
    rows: list[dict[str, object]] = []
    nets = ("vgg16_cifar10", "resnet20_svhn")
    both = ("recalibrate", "frozen")
    for pair, kind, consistent in itertools.product(nets, both, (False, True)):
        level = 0.1 if kind == "recalibrate" else 0.15 if case == "fails" else 0.4
        place = {"pair": pair, "bn_stats": kind, "sign_consistent": consistent}
        rows += valley(case, 0.2, level=level, **place)
    return pd.DataFrame(rows)


_starts = cache(starts)
TABLES: dict[str, TableOf] = {
    **{f"fig{number}": _starts for number in ("07", "21", "22")},
    "bn_statistics": cache(statistics),
}
"""Made once: to be read, not written."""
