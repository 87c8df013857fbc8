"""What the claims on fine-tuning share: in-house runs stand in for the paper's much larger ones."""

from __future__ import annotations

from functools import partial

from harness.declare import CPU, Claim, at_most, claims, ours
from reproductions.lisa.finetuning.experiment import FIXED_LR
from reproductions.lisa.finetuning.quantities import LISA, LORA, smoothed_difference

IN_HOUSE = ours(
    "DEV-04",
    profiles=CPU,
    elsewhere="smoke takes a few steps at one seed; the paper's models need their weights, which"
    " are not at hand",
)
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
                        smoothed_difference,
                        one={**LISA, "model": model},
                        other={**LORA, "model": model},
                    ),
                    0,
                    "nats",
                ),
                f"LISA's final training loss, smoothed over 13 steps, is at most LoRA's on {model},"
                " each at its own best rate.",
            )
            for model in models
        ),
    )
