"""AdamW of active layers, with norms: its time beside torch and libraries."""

from __future__ import annotations

from reproductions.kernels.speed.claims import near_the_copy, speed_task
from reproductions.kernels.speed.experiment import COMPILED, CUDA, EAGER, TRITON
from reproductions.kernels.speed.table import LIBRARIES, layout_of

PEERS = ("torch fused, then norms", "torchao, then norms")
task = speed_task(
    "layer_adamw",
    layout_of("layer_adamw", EAGER, COMPILED, *PEERS, TRITON, CUDA, notes=(LIBRARIES,)),
    near_the_copy("layer_adamw", "two of LLaMA-7B's", does="AdamW with norms is"),
    does="a step of AdamW with norms of gradients and weights",
)
