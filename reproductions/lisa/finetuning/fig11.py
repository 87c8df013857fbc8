"""Figure 11: held-out loss by method, each at its best rate."""

from functools import partial

from harness.declare import Task, at_most, bind, claims
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import CURVES, runs

task = Task(
    "lisa/fig11",
    reads=(runs,),
    table=table.curves("test", *CURVES),
    claims=claims(
        "Figure 11",
        (
            "validation_no_worse_than_lora",
            q.TRAINED,
            at_most(
                partial(q.difference, one="usual", other="lora", loss=q.last), q.ALIKE, "nats"
            ).measuring("LISA's loss less LoRA's"),
            "LISA's validation loss ends no more than 0.02 nats above LoRA's.",
        ),
    )
    + q.blocks_lead("Figure 11", "validation", q.last)
    + claims(
        "ours, beside Figure 11, whose LoRA trains neither embeddings nor head",
        (
            "no_worse_than_lora_with_ends",
            q.TRAINED.asked_by_us(),
            at_most(
                partial(q.difference, one="usual", other="lora_ends", loss=q.last), q.ALIKE, "nats"
            ).measuring("LISA's loss less LoRA's"),
            "LISA's validation loss ends no more than 0.02 nats above that of LoRA that also trains"
            " embeddings and head, in as much memory.",
        ),
    ),
    figure=bind("figures:method_curves", split="test"),
    caption="Loss on examples that neither training nor the choice of rates has seen."
    f" {q.OWN_RATE} LoRA, alone or with embeddings and head (E+H), has as much memory as LISA."
    f" E+H alone is LISA without blocks, our control. {q.SPREAD}",
    alt="Held-out loss against steps for full training, LoRA with and without embeddings and head,"
    " GaLore, LISA, and LISA without blocks.",
)
