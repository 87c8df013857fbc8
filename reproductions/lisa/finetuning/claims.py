"""Claims on the fine-tuning runs, which stand in for the paper's much larger ones."""

from __future__ import annotations

from functools import partial

from harness.declare.claims import Claim, Form, Quantity
from harness.declare.old import flat_claim
from harness.declare.profiles import Profile
from reproductions.lisa.finetuning.quantities import Chosen, smoothed_difference

CPU: tuple[Profile, ...] = ("cpu",)
ELSEWHERE = (
    "smoke takes a few steps at one seed; the paper's models need their weights, which are not at"
    " hand"
)
LORA: Chosen = {"method": "lora"}
LISA: Chosen = {"method": "lisa"}


def in_house(
    id: str,
    statement: str,
    *,
    where: str,
    quantity: Quantity,
    bound: float,
    unit: str = "nats",
    form: Form = "at_most",
) -> Claim:
    """Return an empirical claim on in-house runs, over three training seeds."""
    return flat_claim(
        id=id,
        statement=statement,
        where=f"{where}; in-house stand-in, see DEV-07; threshold: ours, see DEV-04",
        form=form,
        grade="empirical",
        quantity=quantity,
        threshold=bound,
        threshold_from="theory",
        profiles=CPU,
        out_of_profile=ELSEWHERE,
        unit=unit,
    )


def against_lora(model: str) -> Claim:
    """Return the claim that LISA ends with no more training loss than LoRA."""
    return in_house(
        f"lisa_at_most_lora_{model.replace('-', '_')}",
        f"LISA's final training loss, smoothed over 13 steps, is at most LoRA's on {model}, each at"
        " its own best rate.",
        where="Figures 1 and 6, section 4.2",
        quantity=partial(
            smoothed_difference, one={**LISA, "model": model}, other={**LORA, "model": model}
        ),
        bound=0.0,
    )
