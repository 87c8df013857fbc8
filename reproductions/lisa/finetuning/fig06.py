"""Figure 6: training loss of several models under LoRA, LISA and full training."""

from __future__ import annotations

from harness.declare import Task, bind
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.claims import SPREAD, against_lora
from reproductions.lisa.finetuning.experiment import runs, staged
from reproductions.lisa.models.names import QUALITY, STAGED

task = Task(
    "lisa/fig06",
    reads=(runs, staged),
    table=table.best_curves(split="train", methods=("full", "lora", "lisa")),
    claims=against_lora(QUALITY, *STAGED),
    figure=bind("figures:panels_by_model", split="train"),
    caption="As Figure 1, on the in-house model and on two small models that others trained on"
    f" stories, of whose five blocks LISA trains one at a time. {SPREAD}",
    alt="Training loss against steps in one panel per model, for full training, LoRA and LISA.",
)
