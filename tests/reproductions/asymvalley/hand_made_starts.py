"""Hand-made starts, recipes, BN statistics, activations: claims plainly hold, fail, or tie."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import cache

import pandas as pd

from reproductions.asymvalley.models.pairs import BN_STARTS, RECIPES
from tests.reproductions.asymvalley.hand_made import SEEDS, Case

LAMBDAS = tuple(step / 5 for step in range(-5, 6))
TableOf = Callable[[Case], pd.DataFrame]


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
    the third by 0.02 and 0.005. Fails: the third alone is asymmetric. All have median 0.2, or 0.9.
    """
    rows: list[dict[str, object]] = []
    for start in BN_STARTS:
        strong = (start != "gaussian") == (case != "fails")
        sizes = {
            ("ns", "bn", 1.0): 0.4 if strong else 0.02,
            ("ns", "all", 1.0): 0.05,
            ("filter_ns", "all", 0.2): -0.02 if strong else 0.005,
            ("filter_ns", "all", 1.0): 0.0 if strong else 0.3,
        }
        for (norm, group, s), size in sizes.items():
            place = {"bn_start": start, "part": "curve", "norm": norm, "group": group, "s": s}
            rows += valley(case, size, x="x", **place)
        rows += _weights(case, start, positive=0.99 if strong else 0.5)
    return pd.DataFrame(rows)


def _weights(case: Case, start: str, *, positive: float) -> Iterator[dict[str, object]]:
    middle = 0.9 if case == "fails" else 0.2
    share = 0.8 if case == "flat" else positive
    place = {"bn_start": start, "norm": "", "group": "", "s": 0.0, "draw": 0}
    for seed in SEEDS:
        for step in range(11):
            weight = middle + (step - 5) * 0.04 + (0.002 * seed if step != 5 else 0.0)
            yield {**place, "part": "quantile", "x": step / 10, "seed": seed, "bn_weight": weight}
        value = share + 0.001 * seed
        yield {**place, "part": "share", "x": 0.0, "seed": seed, "bn_weight": value}


def recipes(case: Case) -> pd.DataFrame:
    """Six recipes.

    Holds: sign rows are asymmetric by 0.4, raw rows by 0.02, at levels from 0.2 on. Fails: the
    last recipe's sign row is not, its raw row is, and all levels are one.
    """
    rows: list[dict[str, object]] = []
    for index, recipe in enumerate(RECIPES):
        level = 0.3 if case == "fails" else 0.2 + 0.02 * index
        odd = case == "fails" and recipe == RECIPES[-1]
        sizes = {True: -0.1 if odd else 0.4, False: 0.3 if odd else 0.02}
        for consistent, size in sizes.items():
            place = {"recipe": recipe, "sign_consistent": consistent, "sign_consistency": 0.5}
            rows += valley(case, size, level=level, **place)
    return pd.DataFrame(rows)


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


def activations(case: Case) -> pd.DataFrame:
    """Shares of units: more switch at -a than at +a where the claim holds, as many where it ties.

    Fails: at a = 0.6 alone it is the other way round, the shares sum to 0.99, and at lambda = 0
    some units switch.
    """
    rows: list[dict[str, object]] = []
    for seed, draw, place in itertools.product(SEEDS, range(2), LAMBDAS):
        off = 0.3 * abs(place) * (1.0 if place < 0 else 0.5)
        if case == "flat":
            off = 0.2 * abs(place)
        elif case == "fails" and abs(place) == 0.6:
            off = 0.1 if place < 0 else 0.2
        off += 0.002 * seed * abs(place)
        on = 0.2 * off + (0.01 if case == "fails" and place == 0.0 else 0.0)
        off_off = 0.6 - on - (0.01 if case == "fails" else 0.0)
        shares = {"on_on": 0.4 - off, "on_off": off, "off_on": on, "off_off": off_off}
        point = {"draw": draw, "lambda": place, "seed": seed}
        rows.append({**point, **shares, "agreement": shares["on_on"] + shares["off_off"]})
    return pd.DataFrame(rows)


def solutions(case: Case) -> pd.DataFrame:
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


_starts, _recipes = cache(starts), cache(recipes)
TABLES: dict[str, TableOf] = {
    **{f"asymvalley/fig{number}": _starts for number in ("07", "21", "22")},
    **{f"asymvalley/fig{number}": _recipes for number in ("09", "23")},
    "asymvalley/fig28": cache(activations),
    "asymvalley/bn_statistics": cache(statistics),
    "asymvalley/gradient": cache(solutions),
}
"""Made once: to be read, not written."""
