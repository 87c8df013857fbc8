"""What claims of several studies share: their scopes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import CPU, PAPER, MissingRows, ours

if TYPE_CHECKING:
    import pandas as pd

IN_HOUSE = ours(
    "DEV-04",
    profiles=CPU,
    elsewhere="smoke takes a few steps at one seed; the paper's models need their weights, which"
    " are not at hand",
)
"""Runs of small models in place of the paper's."""
ON_GSM8K = ours("DEV-04", profiles=PAPER, elsewhere="models of this size solve nothing of GSM8K")


def stand_in(where: str) -> str:
    """Return where the paper says what word problems stand in for."""
    return f"{where}; on word problems of ours, not on GSM8K"


def on_gsm8k(table: pd.DataFrame) -> float:
    """Raise MissingRows: no run of ours is on GSM8K itself."""
    raise MissingRows(
        "the paper's models and OpenWebMath are not at hand, and no run here is on GSM8K itself"
    )
