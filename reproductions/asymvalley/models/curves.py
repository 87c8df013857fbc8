"""What claims of several studies measure on curves: both sides, and what lies at the centre.

A curve's rows have the columns `error` and `ce`, often `draw`, and `lambda`, which a table with
other places calls `x`. Errors are in [0, 1]; an asymmetry is E_minus - E_plus, the means over
lambda in [-1, 0) and (0, 1] (paper, Figure 4), positive where the positive side is flatter.
Quantities take the table of one seed, unless they say "whole table"; which curves they are about
is handed in, as the values of columns. No torch, no pandas at import.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from harness.declare import InvalidQuantity, MissingRows, pick
from harness.declare.layout import Where
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
LOST = 0.8
"""Error of a net that is lost, near guessing among ten classes: both sides of its valley are as
high."""
LEAN = "mean over the negative side less that over the positive side"
"""What an asymmetry is."""
Side = Literal["plus", "minus"]


def places_of(rows: pd.DataFrame) -> pd.Series[float]:
    """Return the lambda of every row."""
    return rows["lambda" if "lambda" in rows else "x"]


def sides(rows: pd.DataFrame, *, value: str = "error") -> Sides:
    """Return the means of a value over both sides of one valley, over all draws in `rows`.

    Each lambda counts once, however many draws it has. Raises MissingRows where a side has no
    point, InvalidQuantity where a point has no finite value.

    Source: paper, Figure 4 (E_plus and E_minus); we leave lambda = 0 out of both.
    """
    points = rows[places_of(rows).abs() > AT_ZERO]
    if not {-1.0, 1.0} <= {math.copysign(1.0, place) for place in places_of(points)}:
        raise MissingRows("a curve has no point on one of its sides")
    if not all(math.isfinite(number) for number in points[value].astype(float)):
        raise InvalidQuantity(f"a curve has points without a finite {value}")
    means = points.groupby(places_of(points))[value].mean()
    return sides_of(list(means.index), list(means))


def valley(table: pd.DataFrame, where: Where, *, min_draws: int = 1) -> pd.DataFrame:
    """Return the rows of one valley.

    Along theta_f without both ends: at lambda = -1 the net is zero, whatever it was (DEV-04).
    Raises MissingRows where there are none, InvalidQuantity for fewer than `min_draws` draws.
    """
    rows = pick(table, **where)
    found = int(rows["draw"].nunique()) if min_draws > 1 else min_draws
    if found < min_draws:
        raise InvalidQuantity(f"{found} draw(s) of the noise, need at least {min_draws}")
    return rows[rows["lambda"].abs() < 1.0 - ON_GRID] if "theta_f" in where.values() else rows


def asymmetries(table: pd.DataFrame, *, of: Sequence[Where], value: str = "error") -> list[float]:
    """Return the asymmetry of each of some valleys."""
    rows = [valley(table, where) for where in of]
    return [sides(each, value=value).asymmetry for each in rows]


def mean_asymmetry(table: pd.DataFrame, *, of: Sequence[Where]) -> float:
    """Return the mean of the same."""
    return statistics.fmean(asymmetries(table, of=of))


def gains(
    table: pd.DataFrame, *, of: Sequence[Where], beside: Sequence[Where], size: bool = False
) -> list[float]:
    """Return the asymmetry of each valley less that of the one beside it.

    size: of both without their signs, so whichever side is the flatter one.
    """
    pairs = zip(asymmetries(table, of=of), asymmetries(table, of=beside), strict=True)
    return [abs(own) - abs(other) if size else own - other for own, other in pairs]


def sizes_of_shares(
    table: pd.DataFrame, *, of: Sequence[Where], beside: Sequence[Where], min_draws: int = 1
) -> list[float]:
    """Return the size of each valley's asymmetry over the asymmetry of the one beside it.

    The size is the mean over single draws of the noise, as a panel of the paper has one: a mean of
    many draws that are symmetric about zero leans to neither side around any net. Infinite where
    the other asymmetry is not positive: then no share is small. Raises InvalidQuantity where both
    sides of a draw err more than `LOST`: such a valley is flat since the net is lost.
    """
    found = []
    for where, whole in zip(of, asymmetries(table, of=beside), strict=True):
        rows = valley(table, where, min_draws=min_draws)
        draws = [own for _, own in rows.groupby("draw")] if "draw" in rows else [rows]
        both = [sides(own) for own in draws]
        if any(min(each.plus, each.minus) > LOST for each in both):
            raise InvalidQuantity(f"both sides of a valley err more than {LOST:g}: the net is lost")
        size = statistics.fmean(abs(each.asymmetry) for each in both)
        found.append(size / whole if whole > 0.0 else math.inf)
    return found


def ratio_spearmans(
    table: pd.DataFrame, *, of: Sequence[Where], side: Side, min_draws: int = 1
) -> list[float]:
    """Return the rank correlation of one side's mean error with the sign-change ratio, by net.

    Raises MissingRows for fewer than three ratios, InvalidQuantity for too few draws.
    """
    found = []
    for where in of:
        rows = valley(table, where, min_draws=min_draws)
        ratios = sorted(float(ratio) for ratio in rows["ratio"].unique())
        if len(ratios) < 3:
            raise MissingRows(f"{dict(where)} has {len(ratios)} sign-change ratio(s), need three")
        errors = [float(getattr(sides(pick(rows, ratio=ratio)), side)) for ratio in ratios]
        found.append(spearman(ratios, errors))
    return found


def asymmetry_interval(curves: Sequence[tuple[Sequence[float], Sequence[float]]]) -> Interval:
    """Return the mean asymmetry over draws with its 95 % t interval.

    curves: (lambdas, values) of each draw of the noise.
    """
    return t_interval([sides_of(lambdas, values).asymmetry for lambdas, values in curves])


def spearman(x: Sequence[float], y: Sequence[float]) -> float:
    """Return Spearman's rank correlation. Raises InvalidQuantity where either is constant."""
    from scipy.stats import spearmanr

    if min(len(set(x)), len(set(y))) < 2:
        raise InvalidQuantity("a rank correlation needs numbers that differ")
    return float(spearmanr(x, y).statistic)


def centres(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of curves at lambda = 0. Raises MissingRows where there are none."""
    rows = table[table["part"] == "curve"] if "part" in table else table
    found = rows[places_of(rows).abs() <= AT_ZERO]
    if found.empty:
        raise MissingRows("the table has no curve with lambda = 0")
    return found


def widest_centre(table: pd.DataFrame, *, by: Sequence[str]) -> float:
    """Return the largest range of errors at lambda = 0 within one net and treatment; whole table.

    by: the columns that tell treatments of a net apart, beside the seed.
    """
    errors = centres(table).groupby([*by, "seed"])["error"]
    return float((errors.max() - errors.min()).max(skipna=False))


def stated(reference: pd.DataFrame, *, y_name: str) -> float | None:
    """Return the one number among a task's published rows of a name; None if there is not one.

    The paper gives few numbers in prose: its curves are published as pictures alone.
    """
    rows = published(reference)
    numbers = rows.loc[rows["y_name"] == y_name, "value"].dropna()
    return float(numbers.iloc[0]) if len(numbers) == 1 else None
