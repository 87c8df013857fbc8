"""Claims on MT-Bench. Every one needs a real judge's ratings; nothing else stands in for them."""

from __future__ import annotations

from functools import partial

from harness.declare.claims import Claim, Form, Quantity, Threshold, ThresholdFrom
from harness.declare.old import flat_claim
from harness.declare.profiles import Profile
from reproductions.lisa.finetuning.experiment import OURS
from reproductions.lisa.models.scored import LARGEST, THREE
from reproductions.lisa.mt_bench.quantities import gain_percent, lead, lead_by_kind, ordered

CPU: tuple[Profile, ...] = ("cpu",)
PAPER: tuple[Profile, ...] = ("paper",)
IN_HOUSE = "it is about the in-house model, which is fine-tuned at cpu"
HANDED_IN = "it is about the paper's models, whose weights have to be handed in"
ASCENDING = ("lora", "full", "lisa")
MEMORISED, REASONED = ("writing", "humanities"), ("math", "coding")
GAIN_PERCENT = (10.0, 35.0)
"""Of LISA over LoRA, in the proceedings' text."""


def judged(
    id: str,
    statement: str,
    *,
    where: str,
    model: str,
    form: Form,
    quantity: Quantity,
    bound: Threshold = 0.0,
    threshold_from: ThresholdFrom = "theory",
    unit: str = "points",
) -> Claim:
    """Return a claim on one model's ratings, over training seeds."""
    ours = model == OURS
    stand_in = "; in-house stand-in, see DEV-07" if ours else ""
    return flat_claim(
        id=f"{id}_{model.replace('-', '_')}",
        statement=f"{statement} on {model}.",
        where=f"{where}{stand_in}",
        form=form,
        grade="empirical",
        quantity=quantity,
        threshold=bound,
        threshold_from=threshold_from,
        profiles=CPU if ours else PAPER,
        out_of_profile=IN_HOUSE if ours else HANDED_IN,
        unit=unit,
    )


AVERAGE = (
    *(
        judged(
            "lisa_full_lora",
            "The mean rating does not fall from LoRA to full training, and from there to LISA,",
            where="Table 3 and section 4.2",
            model=model,
            form="ordering",
            quantity=partial(ordered, model=model, methods=ASCENDING),
        )
        for model in (OURS, *THREE)
    ),
    *(
        judged(
            "gain_over_lora",
            "LISA's mean rating lies 10 to 35 % above LoRA's",
            where="Table 3 and abstract",
            model=model,
            form="within",
            quantity=partial(gain_percent, model=model, one="lisa", other="lora"),
            bound=GAIN_PERCENT,
            threshold_from="paper",
            unit="percent",
        )
        for model in THREE
    ),
)
BY_CATEGORY = tuple(
    judged(
        "memorising_over_reasoning",
        "LISA's lead over LoRA in writing and humanities is no smaller than in math and coding",
        where="Table 8, and the text on it",
        model=model,
        form="at_least",
        quantity=partial(
            lead_by_kind, model=model, one="lisa", other="lora", kinds=(MEMORISED, REASONED)
        ),
    )
    for model in (OURS, *THREE)
)
OF_LARGEST = tuple(
    judged(
        f"lisa_at_least_{other}",
        f"LISA's mean rating is no lower than that of {words}",
        where="Tables 5 and 9",
        model=LARGEST,
        form="at_least",
        quantity=partial(lead, model=LARGEST, one="lisa", other=other),
    )
    for other, words in (("lora", "LoRA"), ("full", "full training"))
)
