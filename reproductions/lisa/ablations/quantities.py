"""What the claims on LISA's own settings measure, from the table of one seed.

Losses are in nats per answer token.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.declare import pick
from reproductions.lisa.ablations.experiment import SETTINGS

if TYPE_CHECKING:
    import pandas as pd


def loss(table: pd.DataFrame, name: str, value: str) -> float:
    """Return a setting's loss; infinite where it diverged."""
    found = pick(table, **SETTINGS[name].where)[value].astype(float).iloc[0]
    return math.inf if math.isnan(found) else float(found)


def difference(table: pd.DataFrame, *, one: str, other: str, value: str = "test_loss") -> float:
    """Return a loss of one setting minus that of another."""
    return loss(table, one, value) - loss(table, other, value)


def later_draws(table: pd.DataFrame, *, names: Sequence[str]) -> list[float]:
    """Return the loss of blocks drawn once minus that of each other setting."""
    return [difference(table, one="once", other=name) for name in names]


def fall(table: pd.DataFrame, *, name: str) -> float:
    """Return by how much fine-tuning lowers the held-out loss."""
    return loss(table, name, "start_loss") - loss(table, name, "test_loss")
