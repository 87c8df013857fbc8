"""Columns that the tables of several studies share, and how they come from the long frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import columns_of, value
from reproductions.supar.models.points import RatePoint

if TYPE_CHECKING:
    import pandas as pd

PLACE = columns_of(RatePoint, "data", "scheme", "density", "width")
SEED = columns_of(RatePoint, "seed")
RATE = columns_of(RatePoint, "log2_lr")
TRAIN_LOSS = value(
    "train_loss",
    float,
    "Mean loss of the last tenth of the training steps, in nats a token; empty if diverged.",
    nullable=True,
)
VAL_LOSS = value(
    "val_loss",
    float,
    "Loss on the validation split after training, in nats a token.",
    nullable=True,
)
TEST_LOSS = value(
    "test_loss", float, "Loss on the test split after training, in nats a token.", nullable=True
)
TRAINED = (
    *SEED,
    TRAIN_LOSS,
    VAL_LOSS,
    TEST_LOSS,
    value("clip_rate", float, "Fraction of steps whose gradient norm was clipped.", nullable=True),
    value(
        "diverged",
        bool,
        "Whether the loss left the finite numbers or passed the experiment's bound.",
    ),
)
"""Seed and results of a run."""


def runs(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row per run of a long frame, diverged runs marked."""
    return frame.assign(diverged=frame["status"] == "diverged")
