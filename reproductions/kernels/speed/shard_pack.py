"""Blocks of shards put in order, and a sharded Adam: its time beside torch and libraries."""

from __future__ import annotations

from reproductions.kernels.speed.claims import near_the_copy, speed_task
from reproductions.kernels.speed.experiment import COMPILED, CUDA, EAGER, TRITON
from reproductions.kernels.speed.table import layout_of

PEERS = (
    "one strided copy",
    "FSDP2's chunk_cat",
    "FSDP2's all_gather_copy_in",
    "torch fused, then a copy",
)
NOTE = (
    "FSDP2's all_gather_copy_in is given its blocks in their new order, and gathers nothing from"
    " other ranks here."
)
task = speed_task(
    "shard_pack",
    layout_of("shard_pack", EAGER, COMPILED, *PEERS, TRITON, CUDA, notes=(NOTE,)),
    near_the_copy(
        "shard_pack",
        "LLaMA-7B's",
        "LLaMA-7B's step",
        does="rearrangement of blocks and step of a shard are",
    ),
    does="putting blocks in order, and the step of a shard",
)
