"""Figure 1: training loss by method, each at its best rate."""

from __future__ import annotations

from harness.declare import Task, bind
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.claims import ON, SPREAD, against_lora
from reproductions.lisa.finetuning.experiment import runs
from reproductions.lisa.models.names import QUALITY

task = Task(
    "lisa/fig01",
    reads=(runs,),
    table=table.best_curves(split="train", methods=(*table.METHODS, "cyclic")),
    claims=against_lora(QUALITY),
    figure=bind("figures:panels_by_model", split="train"),
    caption="Loss of batches before their steps, means over 13 steps, each method at the rate of"
    f" its least validation loss. {ON} {SPREAD}",
    alt="Training loss against steps for full training, LoRA, GaLore, BAdam and LISA.",
)
