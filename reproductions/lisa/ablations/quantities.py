"""What the claims on LISA's own settings measure, from the table of one seed.

Losses are in nats per answer token.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.declare import pick
from reproductions.lisa.finetuning.experiment import GAMMA, NUM_STEPS, PERIOD

if TYPE_CHECKING:
    import pandas as pd

Chosen = Mapping[str, str | int]
USUAL: Chosen = {"method": "lisa", "gamma": GAMMA, "period": PERIOD, "policy": "drop_refrozen"}
FULL: Chosen = {"method": "full"}
NO_BLOCKS: Chosen = {**USUAL, "gamma": 0}
FOUR: Chosen = {**USUAL, "gamma": 4}
ONCE: Chosen = {**USUAL, "period": NUM_STEPS}
KEPT: Chosen = {**USUAL, "policy": "keep_all"}
RESET: Chosen = {**USUAL, "policy": "reset_all"}


def loss(table: pd.DataFrame, chosen: Chosen, value: str) -> float:
    """Return a setting's loss; infinite where it diverged."""
    found = pick(table, **chosen)[value].astype(float).iloc[0]
    return math.inf if math.isnan(found) else float(found)


def difference(
    table: pd.DataFrame, *, one: Chosen, other: Chosen, value: str = "test_loss"
) -> float:
    """Return a loss of one setting minus that of another."""
    return loss(table, one, value) - loss(table, other, value)


def later_draws(table: pd.DataFrame, *, periods: Sequence[int]) -> list[float]:
    """Return the loss of blocks drawn once minus that of each other period."""
    return [difference(table, one=ONCE, other={**USUAL, "period": period}) for period in periods]


def fall(table: pd.DataFrame, *, chosen: Chosen) -> float:
    """Return by how much fine-tuning lowers the held-out loss."""
    rows = pick(table, **chosen)
    return float(rows["start_loss"].iloc[0]) - loss(table, chosen, "test_loss")
