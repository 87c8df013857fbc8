"""Figure 1: training loss by method, each at its best rate."""

from harness.declare import Task, bind
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import runs

task = Task(
    "lisa/fig01",
    reads=(runs,),
    table=table.curves(
        "train", "full", "lora", "lora_ends", "galore", "cyclic", "usual", "blocks_0"
    ),
    claims=q.blocks_lead("Figure 1", "training", q.smoothed),
    figure=bind("figures:method_curves", split="train"),
    caption=f"Loss of each batch before its step, means over 13 steps. {q.OWN_RATE} LoRA, alone or"
    " with embeddings and head (E+H), has as much memory as LISA. E+H alone is LISA without blocks,"
    f" our control. {q.SPREAD}",
    alt="Training loss against steps for full training, LoRA with and without embeddings and head,"
    " GaLore, BAdam, LISA, and LISA without blocks.",
)
