"""Blocks of shards put in order, and a sharded Adam: what compilers make of it."""

from __future__ import annotations

from reproductions.kernels.compiled.claims import static_task

task = static_task("shard_pack", bytes_bound=True)
