"""What the claims on starts of batch normalisation measure.

Every function takes the table of one seed. AS is the mean test error over lambda < 0 minus that
over lambda > 0, over all draws of a noise. No torch, no pandas at import.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.declare import MissingRows, pick
from reproductions.asymvalley.models.curves import AT_ZERO, asymmetry, share_of

if TYPE_CHECKING:
    import pandas as pd


# --- initial BN weights (Figures 7, 21, 22) ---


def middle_weight(table: pd.DataFrame, *, start: str) -> float:
    """Return the median BN weight after training from a start.

    Raises MissingRows where the table has no quantile 0.5.
    """
    rows = pick(table, part="quantile", bn_start=start)
    middle = rows.loc[(rows["x"] - 0.5).abs() <= AT_ZERO, "bn_weight"]
    if middle.empty:
        raise MissingRows(f"the table has no median of the start {start}")
    return float(middle.iloc[0])


def bn_asymmetry(table: pd.DataFrame, *, start: str) -> float:
    """Return AS under {0,1} noise on the BN weights alone, norm-scaled, s = 1."""
    rows = pick(table, part="curve", bn_start=start, norm="ns", group="bn")
    return asymmetry(_at_width(rows, 1.0))


def bn_asymmetry_shares(table: pd.DataFrame, *, start: str, others: Sequence[str]) -> list[float]:
    """Return abs(AS) of a start over AS of each of the others, noise on the BN weights alone."""
    own = bn_asymmetry(table, start=start)
    return [share_of(own, bn_asymmetry(table, start=other)) for other in others]


def filter_asymmetries(table: pd.DataFrame, *, starts: Sequence[str]) -> list[float]:
    """Return AS of several starts under filter-normalized noise at the smallest s."""
    found = []
    for start in starts:
        rows = pick(table, part="curve", bn_start=start, norm="filter_ns", group="all")
        found.append(asymmetry(_at_width(rows, float(rows["s"].min()))))
    return found


def _at_width(rows: pd.DataFrame, s: float) -> pd.DataFrame:
    return pick(rows, s=s).rename(columns={"x": "lambda"})
