"""What the claims on hidden units measure, each a number from the table of Figure 28."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import MissingRows
from reproductions.asymvalley.activations.experiment import SHARES
from reproductions.asymvalley.models.curves import AT_ZERO

if TYPE_CHECKING:
    import pandas as pd

REACHES = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Figure 28's a."""


def agreement_gains(table: pd.DataFrame) -> list[float]:
    """Return the agreement at +a less that at -a, for each a."""
    return [_agreement(table, a) - _agreement(table, -a) for a in REACHES]


def _agreement(table: pd.DataFrame, place: float) -> float:
    rows = table[(table["lambda"] - place).abs() <= AT_ZERO]
    if rows.empty:
        raise MissingRows(f"the table has no activations at lambda = {place:g}")
    return float(rows["agreement"].mean())


def farthest_sum(table: pd.DataFrame) -> float:
    """Return the sum of the four shares that is farthest from 1; whole table."""
    sums = table[list(SHARES)].sum(axis=1)
    if sums.empty:
        raise MissingRows("the table has no activations")
    return max(map(float, sums), key=lambda total: abs(total - 1.0))


def switched_at_centre(table: pd.DataFrame) -> float:
    """Return the largest share of units that switch at lambda = 0; whole table."""
    centre = table[table["lambda"].abs() <= AT_ZERO]
    if centre.empty:
        raise MissingRows("the table has no activations at lambda = 0")
    return float((centre["on_off"] + centre["off_on"]).max())
