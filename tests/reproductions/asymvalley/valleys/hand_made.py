"""Hand-made valley curves, in which each claim plainly holds, plainly fails, or all is flat."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Literal

import pandas as pd

from reproductions.asymvalley.method.directions import NOISE_GROUPS, NOISES, ZERO_SYMMETRIC

LAMBDAS = (-1.0, -0.5, 0.0, 0.5, 1.0)
SEEDS = range(3)
WITH_ZEROS = ("ternary", "binary")
Case = Literal["holds", "fails", "flat"]
"""`flat`: every curve is a horizontal line, as of a net that knows nothing."""
TableOf = Callable[[Case], pd.DataFrame]


def curve(
    *, case: Case, plus: float, minus: float, consistency: float, draw: int = 0, **place: object
) -> Iterator[dict[str, object]]:
    """Yield a curve that has one error on each side, in a table of three seeds.

    Where claims fail, draws and seeds disagree at lambda = 0, and shares of signs between curves.
    """
    for seed, place_on_line in itertools.product(SEEDS, LAMBDAS):
        jitter = 0.001 * seed + 0.0005 * draw
        error = plus - jitter if place_on_line > 0 else minus + jitter
        if place_on_line == 0:
            error = 0.1 + (jitter + 1e-6 * len(str(place)) if case == "fails" else 0.0)
        error = 0.9 if case == "flat" else error
        share = consistency - (0.001 * (1 + draw + len(str(place))) if case == "fails" else 0.0)
        point = {"draw": draw, "lambda": place_on_line, "seed": seed}
        yield {**place, **point, "error": error, "ce": 3.0 * error, "sign_consistency": share}


def noises(case: Case, *, pair: str) -> pd.DataFrame:
    """Seven kinds at three widths.

    Holds: sign rows have asymmetry 0.5, raw rows 0.02, those of shifted kinds 0.06. Fails: two
    sign rows have -0.1, raw rows of symmetric kinds 0.5, of shifted ones 0.2, at s = 0.2 less.
    """
    rows: list[dict[str, object]] = []
    for kind, consistent, s in itertools.product(NOISES, (False, True), (0.2, 1.0, 2.0)):
        size = _noise_asymmetry(kind, consistent, s, holds=case != "fails")
        share = (0.67 if kind in WITH_ZEROS else 1.0) if consistent else 0.5
        for draw in range(5 if s == 1.0 else 1):
            place = {"pair": pair, "noise": kind, "sign_consistent": consistent, "s": s}
            sides = {"plus": 0.4 - size / 2, "minus": 0.4 + size / 2}
            rows += curve(case=case, **sides, consistency=share, draw=draw, **place)
    return pd.DataFrame(rows)


def _noise_asymmetry(kind: str, consistent: bool, s: float, *, holds: bool) -> float:
    symmetric = kind in ZERO_SYMMETRIC
    if holds:
        return 0.5 if consistent else 0.02 if symmetric else 0.06
    if consistent:
        return -0.1 if kind in ("uniform01", "binary") else 0.4
    return 0.5 if symmetric else -0.01 if s == 0.2 else 0.2


def ratios(case: Case) -> pd.DataFrame:
    """Two nets. Holds: sides part from one level. Fails: they start apart and come together."""
    rows: list[dict[str, object]] = []
    for pair in ("vgg16_cifar10", "resnet20_svhn"):
        for ratio, draw in itertools.product((0.0, 0.25, 0.5, 0.75, 1.0), range(3)):
            plus, minus = 0.4 - 0.3 * ratio, 0.41 + 0.3 * ratio
            if case == "fails":
                plus, minus = 0.3 + 0.1 * ratio, 0.5 - 0.05 * ratio
            place = {"pair": pair, "ratio": ratio}
            share = 0.5 + ratio / 2 if case == "holds" else 1.0 - ratio / 2
            rows += curve(case=case, plus=plus, minus=minus, consistency=share, draw=draw, **place)
    return pd.DataFrame(rows)


CONSISTENCY = {
    **{"theta_0": 0.9, "theta_f": 1.0, "sign": 1.0, "sign_centred": 0.95},
    **{"sgp": 0.5, "sgp_centred": 0.49},
}
ASYMMETRIC = {
    **{"theta_0": 0.3, "theta_f": 0.4, "sign": 0.5, "sign_centred": 0.35},
    **{"sgp": 0.05, "sgp_centred": -0.05},
}
"""Asymmetry by direction where the claims hold."""
UPSIDE_DOWN = {
    **{"theta_0": 0.03, "theta_f": 0.01, "sign": 0.02, "sign_centred": 0.015},
    **{"sgp": 0.4, "sgp_centred": 0.41},
}


def directions(case: Case, *, start: Mapping[str, float]) -> pd.DataFrame:
    """Six directions of several nets.

    start: asymmetry along theta_0 by net, where the claims hold; where they fail the first net has
    0.03 and the others 0.1 more.
    """
    rows: list[dict[str, object]] = []
    for index, (pair, own) in enumerate(start.items()):
        sizes = {**ASYMMETRIC, "theta_0": own}
        if case == "fails":
            sizes = {**UPSIDE_DOWN, "theta_0": UPSIDE_DOWN["theta_0"] + 0.1 * index}
        for (name, size), s in itertools.product(sizes.items(), (0.2, 1.0, 2.0)):
            sides = {"plus": 0.45 - size / 2, "minus": 0.45 + size / 2}
            place = {"pair": pair, "direction": name, "s": s}
            rows += curve(case=case, **sides, consistency=CONSISTENCY[name], **place)
    return pd.DataFrame(rows)


def groups(case: Case, *, pair: str) -> pd.DataFrame:
    """Six groups. Holds: sign rows 0.4, all parameters 0.5, raw 0.05. Fails: all of them -0.1."""
    rows: list[dict[str, object]] = []
    for group, consistent, draw in itertools.product(NOISE_GROUPS, (False, True), range(3)):
        size = (0.5 if group == "all" else 0.4) if consistent else 0.05
        if case == "fails":
            size = -0.1 if group == "all" and consistent else -0.05
        sides = {"plus": 0.4 - size / 2, "minus": 0.4 + size / 2}
        place = {"pair": pair, "group": group, "sign_consistent": consistent}
        share = 1.0 if consistent else 0.5
        rows += curve(case=case, **sides, consistency=share, draw=draw, **place)
    return pd.DataFrame(rows)


_MAKERS: dict[str, TableOf] = {
    "fig03": partial(noises, pair="vgg16_cifar10"),
    "fig12": partial(noises, pair="resnet20_svhn"),
    "fig13": partial(noises, pair="vgg11_cifar100"),
    "fig14": partial(noises, pair="alexnet_food101"),
    "fig15": partial(noises, pair="vit_food101"),
    "fig04": ratios,
    "fig05": partial(directions, start={"vgg16_cifar10": 0.3, "vgg16nobn_cifar10": 0.1}),
    "fig16": partial(directions, start={"resnet20_svhn": 0.3}),
    "fig17": partial(directions, start={"vgg11_cifar100": 0.02}),
    "fig18": partial(directions, start={"alexnet_food101": 0.1}),
    "fig19": partial(directions, start={"vit_food101": 0.1}),
    "fig06": partial(groups, pair="resnext101_imagenet"),
    "fig20": partial(groups, pair="resnet50_imagenet"),
}


TABLES: dict[str, TableOf] = {word: cache(make) for word, make in _MAKERS.items()}
"""Made once: to be read, not written."""


def table_of(word: str, case: Case) -> pd.DataFrame:
    """Return the hand-made table of a task, a copy of its own for every caller."""
    return TABLES[word](case).copy()
