"""SmolLM2 by every method: held-out and training loss, beside Figures 1, 6, 8, 11 and Table 10."""

from __future__ import annotations

from functools import partial

from harness.declare import Cell, Criterion, Layout, Line, Task, at_most, claims
from reproductions.lisa.compared import quantities as q
from reproductions.lisa.compared import table
from reproductions.lisa.compared.experiment import finetuned

MARGIN = 0.02
"""Nats that still count as no worse, as in Figure 11."""
HALF = 0.5


def no_worse_than(other: str, name: str) -> Criterion:
    """Ask that LISA's held-out loss is no more than a margin above another method's."""
    return at_most(partial(q.difference, one="lisa", other=other), MARGIN, "nats").measuring(
        f"LISA's loss less that of {name}"
    )


task = Task(
    "lisa/compared_losses",
    own_kind="figure",
    reads=(finetuned,),
    table=table.ENDS,
    layout=Layout(
        rows=table.GROUPED,
        columns=(
            Line("held-out", cell=table.LOSS),
            Line("training", cell=Cell("train_loss", unit="nats", digits=3)),
            Line("rate", cell=Cell("lr", digits=5, seeded=False)),
        ),
        title="Loss after fine-tuning",
        notes=(
            "E+H: embeddings, head and final norm are trained.",
            "Static memory: weights, gradients and moments; LISA's with two blocks.",
            "All seeds share the model and the test examples: intervals cover batches, adapters"
            " and draws of blocks alone.",
        ),
        ours=True,
    ),
    claims=claims(
        "Figure 11 and section 4.2",
        *(
            (
                f"no_worse_than_{way}",
                q.TRAINED,
                no_worse_than(way, name),
                f"LISA's held-out loss ends no more than 0.02 nats above that of {name}.",
            )
            for way, name in (
                ("lora", "LoRA of rank 128"),
                ("full", "full training"),
                ("galore", "GaLore"),
            )
        ),
    )
    + claims(
        "Figures 1 and 6",
        (
            "trains_as_fast_as_lora",
            q.TRAINED,
            at_most(
                partial(q.difference, one="lisa", other="lora", value="train_loss"), 0, "nats"
            ).measuring("LISA's loss less LoRA's"),
            "LISA's training loss ends at or below LoRA's.",
        ),
    )
    + claims(
        "Figure 8",
        (
            "more_blocks_less_loss",
            q.TRAINED,
            at_most(
                partial(q.difference, one="lisa_8", other="lisa", value="train_loss"), 0, "nats"
            ).measuring("loss with eight blocks less that with two"),
            "With eight blocks at once the training loss ends no higher than with two.",
        ),
    )
    + claims(
        "Table 10",
        (
            "blocks_help",
            q.TRAINED,
            at_most(partial(q.difference, one="lisa", other="no_blocks"), 0, "nats").measuring(
                "loss with two blocks less that with none"
            ),
            "LISA with two blocks does at least as well as with embeddings and head alone.",
        ),
    )
    + claims(
        "ours, beside Figure 11 and Table 10",
        (
            "blocks_give_most",
            q.TRAINED.asked_by_us(),
            at_most(q.share_without_blocks, HALF, "share").measuring(
                "share of LISA's fall in loss without blocks"
            ),
            "Embeddings and head alone reach less than half of LISA's fall in held-out loss.",
        ),
        (
            "no_worse_than_lora_of_equal_memory",
            q.TRAINED.asked_by_us(),
            no_worse_than("lora_equal", "LoRA of equal static memory"),
            "LISA's held-out loss ends no more than 0.02 nats above that of LoRA with as much"
            " static memory.",
        ),
        (
            "no_worse_than_lora_with_ends",
            q.TRAINED.asked_by_us(),
            no_worse_than("lora_ends", "LoRA with trained embeddings and head"),
            "LISA's held-out loss ends no more than 0.02 nats above that of LoRA that also trains"
            " embeddings and head, in as much static memory.",
        ),
    ),
    figure="figures:ends",
    caption="Held-out loss after 40 steps of 8 short answers of Alpaca, each method at the rate of"
    " its least validation loss in pilots. E+H: embeddings, head and final norm are trained; the"
    f" lowest four hold LISA's static memory at most. Dashed: the untuned model. {q.SPREAD}",
    alt="Held-out loss of single runs by method beside a dashed line for the untuned model.",
)
