"""Hand-made tables of the toys: each claim plainly holds, fails, or ties."""

from __future__ import annotations

import itertools
from functools import cache

import pandas as pd

from reproductions.asymvalley.method.directions import NOISES
from reproductions.asymvalley.toys.fig29 import NAMES
from tests.reproductions.asymvalley.valleys.hand_made import Case, TableOf

SIZES = (-1.0, -0.5, 0.0, 0.5, 1.0)


def scalings(case: Case) -> pd.DataFrame:
    """Return noises that norm scaling keeps and filter-NS turns, or the other way round."""
    holds, rows = case != "fails", []
    for noise, seed in itertools.product(NOISES, range(3)):
        wobble = 0.001 * seed
        turned = {"one_minus_cosine": 0.1 + wobble, "norm_ratio": 0.9}
        kept = {"one_minus_cosine": 1e-13, "norm_ratio": 1.0 + 1e-7}
        # One kind that fails must be enough.
        for norm, found in (("raw", kept), ("filter_ns", turned), ("ns", kept)):
            if not holds and noise == "ones" and norm != "raw":
                found = turned if norm == "ns" else kept
            rule = "abs" if norm == "filter_ns" else ""
            place = {"noise": noise, "seed": seed, "norm": norm, "one_dim_rule": rule}
            rows.append(place | found)
    return pd.DataFrame(rows)


def patterns(case: Case) -> pd.DataFrame:
    """Return class weights that are kept on the positive side, or one class on the other."""
    holds, rows = case != "fails", []
    for digit, step in itertools.product(range(10), range(-4, 5)):
        x = step / 4
        gain = x if holds or digit != 3 else -20.0 * x
        cosine = 1.0 - 0.1 * x * x + 0.001 * gain
        rows.append(
            {
                "part": "step",
                "digit": digit,
                "x": x,
                "cosine": cosine,
                "expected_cosine": cosine if holds else 1.01 * cosine,
                "margin": 5.0 + gain,
            }
        )
    return pd.DataFrame(rows)


def units(case: Case) -> pd.DataFrame:
    """Return units that follow the noise, or go against it."""
    holds, rows = case != "fails", []
    for seed, size in itertools.product(range(5), SIZES):
        mean = 10.0 + 0.1 * seed + (10.0 + 0.2 * seed) * size * (1.0 if holds else -1.0)
        summary = {
            "seed": seed,
            "part": "summary",
            "lambda": size,
            "x": 0.0,
            "mean": mean,
            "expected_mean": 10.0 + 0.1 * seed + (10.0 + 0.2 * seed) * size,
            "standard_error": 0.1,
            # It falls slightly beyond zero, as it really does.
            "active": 0.8 + 0.001 * seed + (0.1 * min(size, 0.0) - 0.01 * max(size, 0.0)),
        }
        if not holds:
            summary["active"] = 0.8 + 0.001 * seed - 0.1 * size
        rows.append(summary)
    return pd.DataFrame(rows)


def lines(case: Case) -> pd.DataFrame:
    """Return losses that are lower on the positive side, by the slopes of the loss; or neither."""
    leans = {"holds": 0.5, "fails": -0.5, "flat": 0.0}
    rows = []
    for seed, consistent, size in itertools.product(range(5), (False, True), SIZES):
        lean = leans[case] if consistent else 0.2 * (-1.0) ** seed
        # ce = size^2 - lean * size is convex; its slope is 2 size - lean.
        value = 2.0 + size * size - lean * size
        row = dict.fromkeys(NAMES, value) | {
            "seed": seed,
            "sign_consistent": consistent,
            "lambda": size,
            "first_order_eps": (2.0 * size - lean) * (3.0 if case == "fails" else 1.0),
        }
        rows.append(row)
    return pd.DataFrame(rows)


TABLES: dict[str, TableOf] = {
    "fig02": cache(scalings),
    "fig10": cache(patterns),
    "fig27": cache(units),
    "fig29": cache(lines),
}
"""Made once: to be read, not written."""
