"""What the claims and captions on fine-tuning share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from harness.declare import Claim, at_least, claims, ordering
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning.experiment import FIXED_LR
from reproductions.lisa.models.claims import IN_HOUSE

SPREAD = "Lines: mean over seeds; bars: standard error."
DOTS = "Dots: runs, over seeds and seeds of layers; lines: their mean."
ONE_RATE = f"All at one learning rate, {FIXED_LR:g}, as in the paper."
MT_BENCH = "The paper has MT-Bench scores here."

LEAST_FALL = 0.3
"""Nats by which fine-tuning must lower the loss for its methods to be compared."""
TRAINED = IN_HOUSE.controlled(
    f"fine-tuning lowers the loss by {LEAST_FALL:g} nats",
    at_least(q.falls, LEAST_FALL, "nats"),
)
"""Where fine-tuning taught the in-house model something."""


def blocks_lead(figure: str, loss: str, end: Callable[..., float]) -> tuple[Claim, ...]:
    """Return the claim that sampled blocks, and not what else LISA trains, put it before LoRA."""
    return claims(
        f"ours, beside {figure} and Table 10, which takes the blocks away",
        (
            "sampled_blocks_give_the_lead",
            TRAINED.asked_by_us(),
            ordering(partial(q.half_way, end=end), "nats")
            .naming("LISA ahead of LoRA", "blocks ahead of half the lead")
            .measuring("distance from half way between LISA and LoRA"),
            f"The sampled blocks give LISA most of its lead over LoRA in {loss} loss.",
        ),
    )
