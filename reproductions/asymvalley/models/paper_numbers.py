"""The few numbers that the paper gives in prose: its curves are published as pictures alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def stated(reference: pd.DataFrame, *, y_name: str) -> float | None:
    """Return the one number among a task's published rows of a name; None if there is not one."""
    from harness.declare.reference import published

    rows = published(reference)
    numbers = rows.loc[rows["y_name"] == y_name, "value"].dropna()
    return float(numbers.iloc[0]) if len(numbers) == 1 else None
