"""What the claims on recipes measure, each a number from a task's table.

Every function takes the table of one seed, unless it says "whole table". `first` is the net at
l = 0, `second` that at l = 1, and `consistency` counts the coordinates whose product with
second - first is positive. No torch, no pandas at import.
"""

from __future__ import annotations

from harness.declare import Frame, pick
from reproductions.asymvalley.models.curves import AT_ZERO, sides
from reproductions.asymvalley.recipes.experiment import CONTRASTS

# --- two solutions of unlike recipes (Figures 8, 24, 25, 26) ---


def norms(table: Frame) -> list[float]:
    """Return the norm of all parameters, of the first and of the second solution.

    Raises MissingRows without the two.
    """
    rows = pick(table, part="group", group="all")
    return [
        float(pick(rows, solution=solution)["norm"].iloc[0]) for solution in ("first", "second")
    ]


def least_gain_of_consistency(table: Frame) -> float:
    """Return the least consistency(second) - consistency(first) over groups; whole table."""
    rows = pick(table, part="group")
    wide = rows.pivot(index=["seed", "group"], columns="solution", values="consistency")
    return float((wide["second"] - wide["first"]).min())


# --- six recipes of training (Figures 9, 23) ---


def sharper_by(table: Frame) -> list[float]:
    """Return by how much the first net of each contrast is sharper than the second.

    Sharpness: the mean error of the raw noise on both sides less that at lambda = 0.
    """
    return [
        raw_rise(table, recipe=first) - raw_rise(table, recipe=second)
        for first, second in CONTRASTS.values()
    ]


def raw_rise(table: Frame, *, recipe: str) -> float:
    """Return the mean error of both sides of the raw noise above that of the net itself."""
    rows = pick(table, recipe=recipe, sign_consistent=False)
    centre = rows.loc[rows["lambda"].abs() <= AT_ZERO, "error"].mean()
    both = sides(rows)
    return (both.plus + both.minus) / 2.0 - float(centre)
