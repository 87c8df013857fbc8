"""Figure 11: held-out loss by method, each at its best rate."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_most, bind, claims
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.claims import ON, SPREAD, blocks_lead, stand_in
from reproductions.lisa.finetuning.experiment import runs
from reproductions.lisa.models.claims import IN_HOUSE
from reproductions.lisa.models.names import NO_BLOCKS

task = Task(
    "lisa/fig11",
    reads=(runs,),
    table=table.best_curves(split="test", methods=(*table.METHODS, NO_BLOCKS)),
    claims=claims(
        stand_in("Figure 11"),
        (
            "lisa_held_out_near_lora",
            IN_HOUSE,
            at_most(partial(q.last_difference, one=q.LISA, other=q.LORA), 0.02, "nats"),
            "LISA's final held-out loss on LLaMA-2-7B is at most 0.02 above that of LoRA, which"
            " trains neither embedding nor head.",
        ),
    )
    + blocks_lead("Figure 11", "held-out", q.last),
    figure=bind("figures:panels_by_model", split="test"),
    caption="Loss on examples that neither training nor the choice of rates has seen, each method"
    f" at the rate of its least validation loss. {ON} {SPREAD} LISA without blocks was measured at"
    " its start and end alone.",
    alt="Held-out loss against steps for full training, LoRA, GaLore, LISA, and LISA without"
    " blocks.",
)
