"""Figure 1: training loss by method, each at its best rate."""

from __future__ import annotations

from harness.declare import Task, bind
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import runs
from reproductions.lisa.models.names import NO_BLOCKS

task = Task(
    "lisa/fig01",
    reads=(runs,),
    table=table.curves("train", methods=(*table.METHODS, "cyclic", NO_BLOCKS)),
    claims=q.blocks_lead("Figure 1", "training", q.smoothed),
    figure=bind("figures:method_curves", split="train"),
    caption="Loss of each batch before its step, means over 13 steps, each method at the rate of"
    " its least validation loss. LISA with gamma = 0 trains no block, and is our control."
    f" {q.SPREAD}",
    alt="Training loss against steps for full training, LoRA, GaLore, BAdam, LISA, and LISA without"
    " blocks.",
)
