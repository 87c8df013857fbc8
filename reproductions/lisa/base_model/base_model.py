"""The in-house model that is fine-tuned: what its pre-training came to."""

from __future__ import annotations

import math

from harness.declare import (
    CHECK,
    SMOKE_AND_CPU,
    Frame,
    Table,
    Task,
    at_most,
    claims,
    columns_of,
    param,
    pick,
    value,
)
from reproductions.lisa.base_model.experiment import Pretrain, pretraining
from reproductions.lisa.models.shapes import shape_of


def share_of_guessing(table: Frame) -> float:
    """Return the held-out loss over that of guessing evenly among all tokens."""
    row = pick(table, split="held_out").iloc[0]
    return float(row["loss"]) / math.log(shape_of(row["shape"]).vocab)


task = Task(
    "lisa/base_model",
    own_kind="figure",
    reads=(pretraining,),
    table=Table.of(
        columns_of(Pretrain, "shape", "data"),
        param("split", str, "train, or held_out books."),
        param("step", int, "Optimizer steps so far."),
        columns_of(Pretrain, "seed"),
        value(
            "loss",
            float,
            "Nats per token; of train the mean over the steps since the row before.",
        ),
        value(
            "chars_per_token",
            float,
            "Characters of held-out text that a token stands for.",
            nullable=True,
        ),
    ),
    claims=claims(
        "our own model",
        (
            "held_out_is_learned",
            CHECK.at(*SMOKE_AND_CPU),
            at_most(share_of_guessing, 1, "ratio").measuring("held-out loss over that of guessing"),
            "The base model predicts unseen text better than guessing evenly among all tokens.",
        ),
    ),
    figure="figures:loss_lines",
    caption="Loss while the in-house model is pre-trained on the King James Bible, and at the end"
    " on books of it that it has not seen. All fine-tuning starts from these weights. One seed.",
    alt="Training loss falls over the optimizer steps; the held-out loss at the end lies above it.",
)
