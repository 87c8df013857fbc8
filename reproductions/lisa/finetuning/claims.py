"""What the claims on fine-tuning share: in-house runs stand in for the paper's much larger ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from harness.declare import Claim, at_most, claims, ordering
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning.experiment import FIXED_LR
from reproductions.lisa.models.claims import IN_HOUSE
from reproductions.lisa.models.stand_ins import FIGURE_6

ON = "In-house model on Alpaca."
SPREAD = "Lines: mean over seeds; bars: standard error."
DOTS = "Dots: runs, over seeds and seeds of layers; lines: their mean."
ONE_RATE = f"All at one learning rate, {FIXED_LR:g}, as in the paper. {ON}"
MT_BENCH = "The paper has MT-Bench scores here."


def stand_in(where: str) -> str:
    """Return where the paper says what in-house runs stand in for."""
    return f"{where}; in-house stand-in, see DEV-07"


def against_lora(*models: str) -> tuple[Claim, ...]:
    """Return the claims that LISA ends with no more training loss than LoRA."""
    return claims(
        stand_in("Figures 1 and 6, section 4.2"),
        *(
            (
                f"lisa_at_most_lora_{model.replace('-', '_')}",
                IN_HOUSE,
                at_most(
                    partial(
                        q.smoothed_difference,
                        one={**q.LISA, "model": model},
                        other={**q.LORA, "model": model},
                    ),
                    0,
                    "nats",
                ).measuring("LISA's loss less LoRA's"),
                "LISA's final training loss, smoothed over 13 steps, is at most that of LoRA, which"
                f" trains neither embedding nor head, on {FIGURE_6[model]}, each at its own best"
                " rate.",
            )
            for model in models
        ),
    )


def blocks_lead(figure: str, loss: str, end: Callable[..., float]) -> tuple[Claim, ...]:
    """Return the claim that sampled blocks, and not what else LISA trains, put it before LoRA."""
    return claims(
        stand_in(f"ours, beside {figure} and Table 10, which takes the blocks away"),
        (
            "blocks_give_most_of_the_lead",
            IN_HOUSE.asked_by_us(),
            ordering(partial(q.half_way, end=end), "nats").naming(
                "LISA to half way", "half way to no blocks"
            ),
            "Ours, not the paper's: sampled blocks give LISA most of its lead over"
            f" LoRA on LLaMA-2-7B. Its final {loss} loss is at most LoRA's, and embeddings, head"
            " and final norm alone (gamma = 0) get at most half of the way from LoRA's to it, each"
            " at its own best rate.",
        ),
    )
