"""What the paper states of the claims' quantities, looked up in its reference rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.reference import published

if TYPE_CHECKING:
    import pandas as pd


def stated(
    reference: pd.DataFrame, *, y_name: str, series: str, scale: float = 1.0
) -> float | None:
    """Return a number the paper states, times `scale`; None if none stands as the paper's."""
    rows = published(reference)
    rows = rows[(rows["y_name"] == y_name) & (rows["series"] == series)].dropna(subset=["value"])
    return None if rows.empty else float(rows["value"].iloc[0]) * scale
