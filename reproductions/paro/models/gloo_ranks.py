"""Ranks of gloo on this machine: forked from a fresh process, each runs a function of a module."""

from __future__ import annotations

import gc
import json
import os
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch._dynamo  # imported by an optimizer at its first step: here, once for all ranks
import torch.distributed as dist
import torch.multiprocessing as mp

from harness.atomic import write_text
from harness.lifetime import die_with
from harness.measure.fresh_process import call_fresh, function_at

PATIENCE = timedelta(seconds=60)


def on_ranks(
    function: Callable[..., Any], num_ranks: int, *, timeout_s: float = 240.0, **params: Any
) -> list[Any]:
    """Return what a function of a module returns on each rank; JSON goes in and comes out."""
    where = f"{function.__module__}:{function.__qualname__}"
    given = {"where": where, "num_ranks": num_ranks, "params": params}
    found: list[Any] = call_fresh(start_ranks, given, timeout_s=timeout_s)
    return found


def start_ranks(*, where: str, num_ranks: int, params: dict[str, Any]) -> list[Any]:
    """Fork ranks and wait for them; to be called in a fresh process."""
    torch.set_num_threads(1)
    function_at(where)
    # What is here already is not looked at by those that look for tensors, nor copied for them.
    gc.collect()
    gc.freeze()
    with tempfile.TemporaryDirectory() as folder:
        given = (os.getpid(), folder, num_ranks, where, params)
        mp.start_processes(  # type: ignore[attr-defined]
            _rank, args=given, nprocs=num_ranks, start_method="fork"
        )
        files = [Path(folder) / f"{rank}.json" for rank in range(num_ranks)]
        return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def _rank(
    rank: int, parent_pid: int, folder: str, num_ranks: int, where: str, params: dict[str, Any]
) -> None:
    die_with(parent_pid)
    meet = (Path(folder) / "meet").as_uri()
    dist.init_process_group(
        "gloo", init_method=meet, rank=rank, world_size=num_ranks, timeout=PATIENCE
    )
    found = function_at(where)(**params)
    write_text(Path(folder) / f"{rank}.json", json.dumps(found))
    dist.barrier()
    dist.destroy_process_group()
