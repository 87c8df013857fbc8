"""Hand-made recipes and lines between two of them: claims plainly hold, fail, or tie."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache

import pandas as pd

from reproductions.asymvalley.method.directions import PARTITION
from reproductions.asymvalley.models.pairs import RECIPES
from tests.reproductions.asymvalley.starts.hand_made import valley
from tests.reproductions.asymvalley.valleys.hand_made import SEEDS, Case, TableOf


def recipes(case: Case) -> pd.DataFrame:
    """Six recipes.

    Holds: sign rows are asymmetric by 0.4, raw rows by 0.02, at levels from 0.3 down. Fails: the
    last recipe's sign row is not, its raw row is, and all levels are one.
    """
    rows: list[dict[str, object]] = []
    for index, recipe in enumerate(RECIPES):
        level = 0.3 if case == "fails" else 0.3 - 0.02 * index
        odd = case == "fails" and recipe == RECIPES[-1]
        sizes = {True: -0.1 if odd else 0.4, False: 0.3 if odd else 0.02}
        for consistent, size in sizes.items():
            place = {"recipe": recipe, "sign_consistent": consistent, "sign_consistency": 0.5}
            rows += valley(case, size, level=level, **place)
    return pd.DataFrame(rows)


def recipe_lines(case: Case) -> pd.DataFrame:
    """Two solutions of unlike recipes.

    Holds: the second is larger, agrees with the difference in 0.9 of its signs and the first in
    0.3, and the error rises between them. Fails: the second is smaller, the first agrees more in
    all groups but two, which algebra forbids, and the error falls between them. Ties: all equal.
    """
    rows: list[dict[str, object]] = []
    for seed in SEEDS:
        rows += _line(case, seed)
        for group, solution in itertools.product(("all", *PARTITION), ("first", "second")):
            rows.append(_statistics(case, seed, group, solution))
    return pd.DataFrame(rows)


def _line(case: Case, seed: int) -> Iterator[dict[str, object]]:
    for step in range(-5, 11):
        place = step / 5
        hill = 0.4 * place * (1.0 - place)
        error = 0.1 if case == "flat" else 0.1 + abs(hill) + 0.001 * seed
        if case == "fails" and 0.0 < place < 1.0:
            error = 0.1 - abs(hill)
        yield {
            **{"part": "line", "group": "", "solution": "", "x": place, "seed": seed},
            **{"error": error, "ce": 3.0 * error},
        }


def _statistics(case: Case, seed: int, group: str, solution: str) -> dict[str, object]:
    second = solution == "second"
    consistency = 0.9 if second else 0.3
    if case == "fails" and group not in ("bn_weight", "clf_bias"):
        consistency = 0.8 if second else 0.85
    norm = 20.0 + (0.1 * seed if second else 0.0) + (5.0 if second == (case == "holds") else 0.0)
    if case == "flat":
        consistency, norm = 0.5, 20.0
    return {
        **{"part": "group", "group": group, "solution": solution, "x": 0.0, "seed": seed},
        **{"mean": 0.01 if second else 0.005, "std": 0.1, "norm": norm},
        "consistency": consistency + (0.001 * seed if case != "flat" else 0.0),
    }


_recipes, _recipe_lines = cache(recipes), cache(recipe_lines)
TABLES: dict[str, TableOf] = {
    **{f"fig{number}": _recipes for number in ("09", "23")},
    **{f"fig{number}": _recipe_lines for number in ("08", "24", "25", "26")},
}
"""Made once: to be read, not written."""
