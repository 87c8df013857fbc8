"""What the claims on condensation are about. Every function takes the table of one seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import pick

if TYPE_CHECKING:
    import pandas as pd


def final_accuracy(table: pd.DataFrame, schedule: str) -> float:
    """Return a schedule's test accuracy after its last outer step."""
    rows = pick(table, schedule=schedule)
    return float(rows.nlargest(1, "outer_step")["test_accuracy"].iloc[0])


def gains(table: pd.DataFrame, *, of: str, over: tuple[str, ...]) -> list[float]:
    """Return by how much a schedule's accuracy exceeds that of each of some others."""
    ours = final_accuracy(table, of)
    return [ours - final_accuracy(table, other) for other in over]
