"""The rules by which pilots choose: a setting of data condensation, and outer step sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproductions.fg2u.image_sets.cells import TRIED
from reproductions.fg2u.image_sets.experiment import BIASED

if TYPE_CHECKING:
    import pandas as pd

LEAST, ABOVE_REAL, ABOVE_BIASED = 0.85, 0.2, 0.02
"""Accuracy of exact gradients, and their leads."""


def can_tell(rows: pd.DataFrame) -> bool:
    """Return whether exact gradients show in a setting what the paper shows of them.

    rows: of one candidate.
    """
    scores = rows.pivot(index="seed", columns="method", values="test_accuracy").dropna()
    exact = scores["rgu"]
    over_real = (exact - scores["real"]).mean()
    gains = [exact - scores[name] for name in BIASED]
    clear = all(gain.mean() - gain.std() >= ABOVE_BIASED for gain in gains)
    return bool(exact.mean() >= LEAST and over_real >= ABOVE_REAL and clear)


def smallest(table: pd.DataFrame) -> str:
    """Return the first candidate that can tell methods apart; empty where none can."""
    able = (name for name in TRIED if can_tell(table[table["candidate"] == name]))
    return next(able, "")


def best_rates(table: pd.DataFrame) -> dict[str, float]:
    """Return each method's outer step size of the least outer loss."""
    losses = table.pivot(index="lr", columns="method", values="outer_loss")
    return {str(method): float(str(losses[method].idxmin())) for method in losses}
