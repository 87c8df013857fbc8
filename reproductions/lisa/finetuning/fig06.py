"""Figure 6: training loss of several models under LoRA, LISA and full training."""

from functools import partial

from harness.declare import Task, at_most, claims
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import STAGED_METHODS, runs, staged
from reproductions.lisa.models.stand_ins import FIGURE_6

task = Task(
    "lisa/fig06",
    reads=(runs, staged),
    table=table.curves("train", *STAGED_METHODS),
    claims=claims(
        "Figures 1 and 6, section 4.2",
        (
            "lisa_ends_below_lora",
            q.TRAINED,
            at_most(partial(q.leads_of_lora, models=tuple(FIGURE_6)), 0, "nats")
            .naming(*FIGURE_6.values())
            .measuring("LISA's loss less LoRA's"),
            "LISA's training loss ends at or below LoRA's on every model.",
        ),
    ),
    figure="figures:by_model",
    caption="As Figure 1, in a panel for each model. Nothing was run in the place of the paper's"
    f" fourth, LLaMA-2-70B. {q.SPREAD}",
    alt="Training loss against steps in one panel per model, for full training, LoRA and LISA.",
)
