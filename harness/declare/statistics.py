"""The one statistics rule: everything that aggregates over seeds goes through here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.errors import HarnessError

if TYPE_CHECKING:
    import pandas as pd

MIN_SEEDS = 5
"""Fewer seeds decide nothing, unless the quantity is deterministic."""
CONFIDENCE = 0.95


class InvalidQuantity(HarnessError):
    """A quantity has no value on this table: an optimum on the grid's edge, say."""


class MissingRows(HarnessError):
    """A quantity needs rows that this table does not have."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """A mean over seeds with its two-sided 95 % t interval.

    With one value, or a deterministic one, low and high equal the mean.
    """

    mean: float
    low: float
    high: float


def t_interval(values: Sequence[float]) -> Interval:
    """Return the mean and its 95 % Student t interval; not finite for fewer than two values.

    >>> round(t_interval([1.0, 2.0, 3.0]).low, 6)
    -0.484138
    """
    count = len(values)
    if count == 0:
        raise InvalidQuantity("no seed gives a value")
    mean = math.fsum(values) / count
    if count == 1:
        return Interval(mean=mean, low=-math.inf, high=math.inf)
    from scipy.special import stdtrit

    half = float(stdtrit(count - 1, 0.5 + CONFIDENCE / 2)) * mean_and_error(values)[1]
    return Interval(mean=mean, low=mean - half, high=mean + half)


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and its standard error; one value has none, which is 0.

    >>> mean_and_error([2.0, 4.0, 6.0, 8.0, 0.0])
    (4.0, 1.4142135623730951)
    """
    count = len(values)
    mean = math.fsum(values) / count
    if count == 1:
        return mean, 0.0
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return mean, math.sqrt(variance / count)


def optimum_log2(log2_x: Sequence[float], y: Sequence[float | None]) -> float:
    """Return the place of the minimum of y, as log2 x, by a parabola through three points.

    Missing or non-finite y (a diverged run) count as infinitely bad. Raises InvalidQuantity
    where the minimum lies on the grid's edge or beside a diverged point: there the parabola
    has no third point, and a number would be the grid's, not the method's.

    >>> optimum_log2([-1.0, 0.0, 1.0], [2.0, 1.0, 2.0])
    0.0
    """
    points = sorted(
        (float(x), math.inf if v is None or not math.isfinite(v) else float(v))
        for x, v in zip(log2_x, y, strict=True)
    )
    best = min(range(len(points)), key=lambda index: points[index][1], default=-1)
    if best < 0 or math.isinf(points[best][1]):
        raise InvalidQuantity("no point of the grid has a finite value")
    if best in (0, len(points) - 1):
        raise InvalidQuantity(f"the optimum lies on the grid's edge at 2^{points[best][0]:g}")
    (x0, y0), (x1, y1), (x2, y2) = points[best - 1 : best + 2]
    if math.isinf(y0) or math.isinf(y2):
        raise InvalidQuantity(f"the optimum at 2^{x1:g} lies beside a diverged point")
    # Vertex of the interpolating parabola, from divided differences about x1.
    left, right = (y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1)
    curvature = (right - left) / (x2 - x0)
    if curvature <= 0.0:
        return x1
    return (x0 + x1) / 2 - left / (2 * curvature)


def aggregate(table: pd.DataFrame, *, by: Sequence[str], value: str) -> pd.DataFrame:
    """Return mean, standard error of the mean and count of `value` per group of `by`.

    Columns: `by`, `mean`, `sem`, `num_seeds`. Rows without a value are left out; a group with
    none has mean NaN and count 0. Order: that of first appearance.
    """
    found = table.groupby(list(by), sort=False, dropna=False)[value].agg(["mean", "sem", "count"])
    return found.rename(columns={"count": "num_seeds"}).fillna({"sem": 0.0}).reset_index()
