"""What the claims on the convex problem measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import InvalidQuantity, pick

if TYPE_CHECKING:
    import pandas as pd


def slope(table: pd.DataFrame, *, policy: str, decay: float) -> float:
    """Return the log-log slope of the mean suboptimality over the last decade of steps.

    By least squares.
    """
    import numpy as np

    rows = pick(table, policy=policy, decay=decay)
    last = rows[rows["num_steps"] >= rows["num_steps"].max() / 10]
    if len(last) < 3 or (last["mean_gap"] <= 0.0).any():
        raise InvalidQuantity("the last decade has too few points, or none above the optimum")
    steps, gaps = (np.log(last[name].to_numpy("float64")) for name in ("num_steps", "mean_gap"))
    return float(np.polyfit(steps, gaps, 1)[0])


def largest_gradient(table: pd.DataFrame) -> float:
    """Return the largest entry of f_reg's gradient at any optimum."""
    return float(table["optimum_gradient"].max())


def least_gap(table: pd.DataFrame) -> float:
    """Return the least difference of any iterate from the optimum."""
    return float(table["gap"].min())
