"""Blocks of shards put in order, and a sharded Adam: its time beside torch and libraries."""

from __future__ import annotations

from reproductions.kernels.speed.claims import near_the_copy, speed_task
from reproductions.kernels.speed.experiment import COMPILED, CUDA, EAGER, TRITON
from reproductions.kernels.speed.table import layout_of

PEERS = ("one strided copy", "FSDP2's chunk_cat", "torch fused, then a copy")
task = speed_task(
    "shard_pack",
    layout_of("shard_pack", EAGER, COMPILED, *PEERS, TRITON, CUDA),
    near_the_copy("LLaMA-7B's", "rearrangement"),
    does="putting blocks in order, and the step of a shard",
)
