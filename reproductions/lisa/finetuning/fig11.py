"""Figure 11: held-out loss by method, each at its best rate."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_most, bind, claims
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import runs
from reproductions.lisa.models.names import NO_BLOCKS

task = Task(
    "lisa/fig11",
    reads=(runs,),
    table=table.curves("test", methods=(*table.METHODS, NO_BLOCKS)),
    claims=claims(
        "Figure 11",
        (
            "validation_no_worse_than_lora",
            q.TRAINED,
            at_most(partial(q.last_difference, one=q.LISA, other=q.LORA), 0.02, "nats").measuring(
                "LISA's loss less LoRA's"
            ),
            "LISA's validation loss ends no higher than LoRA's.",
        ),
    )
    + q.blocks_lead("Figure 11", "validation", q.last),
    figure=bind("figures:method_curves", split="test"),
    caption="Loss on examples that neither training nor the choice of rates has seen, each method"
    f" at its best rate. LISA with gamma = 0 trains no block, and is our control. {q.SPREAD}",
    alt="Held-out loss against steps for full training, LoRA, GaLore, LISA, and LISA without"
    " blocks.",
)
