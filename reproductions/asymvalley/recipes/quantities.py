"""What the claims on recipes measure, each a number from a task's table.

Every function takes the table of one seed, unless it says "whole table". `first` is the net at
l = 0, `second` that at l = 1, and `consistency` counts the coordinates whose product with
second - first is positive. AS is the mean test error over lambda < 0 minus that over lambda > 0,
over all draws of a noise. No torch, no pandas at import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import MissingRows, pick
from reproductions.asymvalley.models.curves import (
    AT_ZERO,
    ON_GRID,
    asymmetry,
    point_at,
    share_of,
    sides,
)
from reproductions.asymvalley.models.pairs import RECIPES
from reproductions.asymvalley.recipes.experiment import CONTRASTS

if TYPE_CHECKING:
    import pandas as pd


# --- two solutions of unlike recipes (Figures 8, 24, 25, 26) ---


def group_pair(table: pd.DataFrame, *, group: str, value: str) -> list[float]:
    """Return a statistic of a group of parameters, of the first and the second solution.

    value: `norm`, `mean`, `std` or `consistency`. Raises MissingRows without the two.
    """
    rows = pick(table, part="group", group=group)
    found = [pick(rows, solution=solution)[value].iloc[0] for solution in ("first", "second")]
    return [float(number) for number in found]


def outward_consistency(table: pd.DataFrame) -> list[float]:
    """Return how consistent each solution is with the way to it: the smaller, then the larger.

    The way to the second is second - first, to the first its negative, with which the others of
    the first's coordinates are consistent. Larger by the norm of all parameters.
    """
    norms = group_pair(table, group="all", value="norm")
    first, second = group_pair(table, group="all", value="consistency")
    outward = [1.0 - first, second]
    return outward if norms[1] >= norms[0] else outward[::-1]


def least_gain_of_consistency(table: pd.DataFrame) -> float:
    """Return the least consistency(second) - consistency(first) over groups; whole table."""
    rows = pick(table, part="group")
    wide = rows.pivot(index=["seed", "group"], columns="solution", values="consistency")
    return float((wide["second"] - wide["first"]).min())


def rises_between(table: pd.DataFrame) -> list[float]:
    """Return the error minus the larger one of both solutions, at each place between them."""
    line = errors_on_line(table)
    ends = max(point_at(line, place) for place in (0.0, 1.0))
    between = [error for place, error in line.items() if ON_GRID < place < 1.0 - ON_GRID]
    if not between:
        raise MissingRows("the table has no point between the two solutions")
    return [error - ends for error in between]


def errors_on_line(table: pd.DataFrame) -> dict[float, float]:
    """Return the test error by place on the line, ascending."""
    rows = pick(table, part="line")
    return {float(x): float(y) for x, y in sorted(zip(rows["x"], rows["error"], strict=True))}


# --- six recipes of training (Figures 9, 23) ---


def recipe_asymmetry(table: pd.DataFrame, *, recipe: str, sign_consistent: bool) -> float:
    """Return AS of one recipe's solution along the raw or the sign-consistent noise."""
    return asymmetry(pick(table, recipe=recipe, sign_consistent=sign_consistent))


def raw_shares(table: pd.DataFrame) -> list[float]:
    """Return abs(AS) of the raw noise over AS of the sign-consistent, recipe by recipe."""
    shares = []
    for recipe in RECIPES:
        raw, signed = (
            recipe_asymmetry(table, recipe=recipe, sign_consistent=kind) for kind in (False, True)
        )
        shares.append(share_of(raw, signed))
    return shares


def sign_asymmetries(table: pd.DataFrame) -> list[float]:
    """Return AS of the sign-consistent noise, recipe by recipe."""
    return [recipe_asymmetry(table, recipe=name, sign_consistent=True) for name in RECIPES]


def sharper_by(table: pd.DataFrame) -> list[float]:
    """Return by how much the first net of each contrast is sharper than the second.

    Sharpness: the mean error of the raw noise on both sides less that at lambda = 0.
    """
    return [
        raw_rise(table, recipe=first) - raw_rise(table, recipe=second)
        for first, second in CONTRASTS.values()
    ]


def raw_rise(table: pd.DataFrame, *, recipe: str) -> float:
    """Return the mean error of both sides of the raw noise above that of the net itself."""
    rows = pick(table, recipe=recipe, sign_consistent=False)
    centre = rows.loc[rows["lambda"].abs() <= AT_ZERO, "error"].mean()
    both = sides(rows)
    return (both.plus + both.minus) / 2.0 - float(centre)
