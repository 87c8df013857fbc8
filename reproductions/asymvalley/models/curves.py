"""What claims of several studies measure on curves: both sides, and what lies at the centre.

A curve's rows have the columns `lambda`, `error`, `ce` and `draw`. Errors are in [0, 1]; an
asymmetry is E_minus - E_plus, the means over lambda in [-1, 0) and (0, 1] (paper, Figure 4),
positive where the positive side is flatter. No torch, no pandas at import.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.declare import InvalidQuantity, MissingRows
from harness.declare.reference import published
from harness.declare.statistics import Interval, t_interval
from reproductions.asymvalley.method.asymmetry import Sides
from reproductions.asymvalley.method.asymmetry import sides as sides_of

if TYPE_CHECKING:
    import pandas as pd

AT_ZERO = 1e-9
"""Absolute lambda below which a point is the unperturbed net."""
ON_GRID = 1e-6
"""How far a place on a line may be from a grid point and still be it."""


def sides(rows: pd.DataFrame, *, value: str = "error") -> Sides:
    """Return the means of a value over both sides of one valley, over all draws in `rows`.

    Each lambda counts once, however many draws it has. Raises MissingRows where a side has no
    point, InvalidQuantity where a point has no finite value.

    Source: paper, Figure 4 (E_plus and E_minus); we leave lambda = 0 out of both.
    """
    points = rows[rows["lambda"].abs() > AT_ZERO]
    if not {-1.0, 1.0} <= {math.copysign(1.0, place) for place in points["lambda"]}:
        raise MissingRows("a curve has no point on one of its sides")
    if not all(math.isfinite(number) for number in points[value].astype(float)):
        raise InvalidQuantity(f"a curve has points without a finite {value}")
    means = points.groupby("lambda")[value].mean()
    return sides_of(list(means.index), list(means))


def asymmetry(rows: pd.DataFrame, *, value: str = "error") -> float:
    """Return E_minus - E_plus of one valley: positive where its positive side is flatter."""
    return sides(rows, value=value).asymmetry


def asymmetry_interval(curves: Sequence[tuple[Sequence[float], Sequence[float]]]) -> Interval:
    """Return the mean asymmetry over draws with its 95 % t interval.

    curves: (lambdas, values) of each draw of the noise.
    """
    return t_interval([sides_of(lambdas, values).asymmetry for lambdas, values in curves])


def share_of(part: float, whole: float) -> float:
    """Return |part| / whole; infinite where the whole is not positive: then no share is small.

    >>> share_of(-1.0, 4.0), share_of(0.0, 0.0)
    (0.25, inf)
    """
    return abs(part) / whole if whole > 0.0 else math.inf


def spearman(x: Sequence[float], y: Sequence[float]) -> float:
    """Return Spearman's rank correlation. Raises InvalidQuantity where either is constant."""
    from scipy.stats import spearmanr

    if min(len(set(x)), len(set(y))) < 2:
        raise InvalidQuantity("a rank correlation needs numbers that differ")
    return float(spearmanr(x, y).statistic)


def need_draws(rows: pd.DataFrame, count: int) -> None:
    """Raise InvalidQuantity unless the rows have at least `count` draws of the noise."""
    found = int(rows["draw"].nunique())
    if found < count:
        raise InvalidQuantity(f"{found} draw(s) of the noise, need at least {count}")


def widest_centre(table: pd.DataFrame, *, by: Sequence[str], x: str = "lambda") -> float:
    """Return the largest range of errors at lambda = 0 within one net and treatment; whole table.

    by: the columns that tell treatments of a net apart, beside the seed.
    """
    rows = table[table["part"] == "curve"] if "part" in table else table
    centres = rows[rows[x].abs() <= AT_ZERO]
    if centres.empty:
        raise MissingRows("the table has no curve with lambda = 0")
    errors = centres.groupby([*by, "seed"])["error"]
    return float((errors.max() - errors.min()).max(skipna=False))


def stated(reference: pd.DataFrame, *, y_name: str) -> float | None:
    """Return the one number among a task's published rows of a name; None if there is not one.

    The paper gives few numbers in prose: its curves are published as pictures alone.
    """
    rows = published(reference)
    numbers = rows.loc[rows["y_name"] == y_name, "value"].dropna()
    return float(numbers.iloc[0]) if len(numbers) == 1 else None
