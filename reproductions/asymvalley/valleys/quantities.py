"""What the claims on valleys measure, each a number from a task's table.

Every function takes the table of one seed, unless it says "whole table"; curves are those of
width factor s = 1 unless said. No torch, no pandas at import.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from harness.declare import MissingRows, pick
from reproductions.asymvalley.method.directions import NOISES, ZERO_SYMMETRIC
from reproductions.asymvalley.models.curves import (
    ON_GRID,
    asymmetry,
    need_draws,
    share_of,
    sides,
    spearman,
)

if TYPE_CHECKING:
    import pandas as pd

    from harness.declare import Scalar

SHIFTED = NOISES[len(ZERO_SYMMETRIC) :]
"""Noise kinds 4 to 7, whose mean is positive."""
NEVER_ZERO = ("ones",)
"""Kinds that are never exactly zero; a zero has no sign to be consistent with. Uniform and Gaussian
noise in float32 is, about once in 2^24 draws."""

Side = Literal["plus", "minus"]


# --- seven noises, raw and sign-consistent (Figures 3, 12 to 15) ---


def noise_asymmetry(
    table: pd.DataFrame, *, noise: str, sign_consistent: bool, s: float = 1.0, min_draws: int = 1
) -> float:
    """Return the asymmetry along one kind of noise, over its draws."""
    rows = pick(table, noise=noise, sign_consistent=sign_consistent, s=s)
    need_draws(rows, min_draws)
    return asymmetry(rows)


def sign_asymmetries(table: pd.DataFrame, *, s: float = 1.0, value: str = "error") -> list[float]:
    """Return the asymmetry along sign-consistent noise, a number for each of the seven kinds."""
    rows = pick(table, sign_consistent=True, s=s)
    return [asymmetry(pick(rows, noise=kind), value=value) for kind in NOISES]


def raw_shares(table: pd.DataFrame, *, kinds: Sequence[str], min_draws: int = 1) -> list[float]:
    """Return |asymmetry| along raw noise over that along its sign-consistent row, by kind."""
    shares = []
    for kind in kinds:
        raw = noise_asymmetry(table, noise=kind, sign_consistent=False, min_draws=min_draws)
        shares.append(share_of(raw, noise_asymmetry(table, noise=kind, sign_consistent=True)))
    return shares


def shifted_asymmetry(table: pd.DataFrame, *, s: float) -> float:
    """Return the mean asymmetry along raw noise of the four kinds with a positive mean."""
    return statistics.fmean(
        noise_asymmetry(table, noise=kind, sign_consistent=False, s=s) for kind in SHIFTED
    )


# --- share of signs made consistent (Figure 4) ---


def side_by_ratio(
    table: pd.DataFrame, *, pair: str, side: Side, min_draws: int = 3
) -> dict[float, float]:
    """Return the mean error of one side by sign-change ratio, ascending, over draws.

    Raises MissingRows for fewer than three ratios, InvalidQuantity for too few draws.
    """
    rows = pick(table, pair=pair)
    need_draws(rows, min_draws)
    ratios = sorted(float(ratio) for ratio in rows["ratio"].unique())
    if len(ratios) < 3:
        raise MissingRows(f"{pair} has {len(ratios)} sign-change ratio(s), need at least 3")
    return {ratio: float(getattr(sides(pick(rows, ratio=ratio)), side)) for ratio in ratios}


def ratio_spearmans(table: pd.DataFrame, *, pairs: Sequence[str], side: Side) -> list[float]:
    """Return the rank correlation of one side's mean error with the sign-change ratio, by net."""
    found = [side_by_ratio(table, pair=pair, side=side) for pair in pairs]
    return [spearman(list(errors), list(errors.values())) for errors in found]


# --- special directions (Figures 5, 16 to 19) ---


def direction_asymmetry(
    table: pd.DataFrame, *, pair: str, direction: str, inside: bool = False
) -> float:
    """Return the asymmetry of a net's valley along one special direction.

    inside: without |lambda| = 1; along theta_f the net at lambda = -1 is zero, whatever it was.
    """
    rows = pick(table, pair=pair, direction=direction, s=1.0)
    return asymmetry(rows[rows["lambda"].abs() < 1.0 - ON_GRID] if inside else rows)


def weights_and_centred_signs(table: pd.DataFrame, *, pair: str) -> list[float]:
    """Return the asymmetry along theta_f, without its ends, and along its centred signs."""
    return [
        direction_asymmetry(table, pair=pair, direction="theta_f", inside=True),
        direction_asymmetry(table, pair=pair, direction="sign_centred"),
    ]


def direction_shares(table: pd.DataFrame, *, pair: str, directions: Sequence[str]) -> list[float]:
    """Return |asymmetry| along each direction over the asymmetry along sign(theta_f)."""
    whole = direction_asymmetry(table, pair=pair, direction="sign")
    parts = [direction_asymmetry(table, pair=pair, direction=name) for name in directions]
    return [share_of(part, whole) for part in parts]


def direction_of_pairs(table: pd.DataFrame, *, pairs: Sequence[str], direction: str) -> list[float]:
    """Return the asymmetry along one direction for several nets, in the given order."""
    return [direction_asymmetry(table, pair=pair, direction=direction) for pair in pairs]


# --- noise on parameter groups (Figures 6 and 20) ---


def group_asymmetries(
    table: pd.DataFrame, *, groups: Sequence[str], value: str = "error"
) -> list[float]:
    """Return the asymmetry along sign-consistent noise on each group alone, in the given order."""
    rows = pick(table, sign_consistent=True)
    return [asymmetry(pick(rows, group=group), value=value) for group in groups]


# --- identities; whole table ---


def consistency_farthest_from_one(
    table: pd.DataFrame, *, pair: str, column: str, values: Sequence[Scalar]
) -> float:
    """Return the sign consistency farthest from 1 among a net's rows that should agree wholly.

    These are the rows whose `column` has one of `values`, but for raw noise. Raises MissingRows
    where there are none.
    """
    shares = _agreeing(pick(table, pair=pair), column, values)["sign_consistency"].astype(float)
    return max((float(share) for share in shares), key=lambda share: abs(share - 1.0))


def excess_over_agreeing(
    table: pd.DataFrame,
    *,
    column: str,
    values: Sequence[Scalar],
    by: Sequence[str] = ("pair", "seed"),
) -> float:
    """Return by how much any row's sign consistency exceeds that of rows that should agree wholly.

    Zero where these agree at every coordinate but the weights that are zero, which agree with
    nothing: for each net (or whatever `by` tells apart) its largest share less the least one of
    `_agreeing`.
    """
    chosen = _agreeing(table, column, values)
    least = chosen.groupby(list(by))["sign_consistency"].min()
    largest = table.groupby(list(by))["sign_consistency"].max()
    return float((largest - least).max(skipna=False))


def _agreeing(table: pd.DataFrame, column: str, values: Sequence[Scalar]) -> pd.DataFrame:
    rows = table[table[column].isin(list(values))]
    if "sign_consistent" in rows:
        rows = rows[rows["sign_consistent"].astype(bool)]
    if rows.empty:
        raise MissingRows("the table has no rows of sign-consistent directions")
    return rows
