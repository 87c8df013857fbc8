"""Identities on valleys: with how many of the weights' signs noises and directions agree.

Every function takes the whole table. No torch, no pandas at import.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.declare import Frame, MissingRows, Scalar, pick


def consistency_farthest_from_one(
    table: Frame, *, pair: str, column: str, values: Sequence[Scalar]
) -> float:
    """Return the sign consistency farthest from 1 among a net's rows that should agree wholly.

    These are the rows whose `column` has one of `values`, but for raw noise. Raises MissingRows
    where there are none.
    """
    shares = _agreeing(pick(table, pair=pair), column, values)["sign_consistency"].astype(float)
    return max((float(share) for share in shares), key=lambda share: abs(share - 1.0))


def excess_over_agreeing(
    table: Frame,
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


def _agreeing(table: Frame, column: str, values: Sequence[Scalar]) -> Frame:
    rows = table[table[column].isin(list(values))]
    if "sign_consistent" in rows:
        rows = rows[rows["sign_consistent"].astype(bool)]
    if rows.empty:
        raise MissingRows("the table has no rows of sign-consistent directions")
    return rows
