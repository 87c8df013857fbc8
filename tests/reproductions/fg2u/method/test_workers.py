"""Directions over processes: the estimate of one, whatever their number."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.multiprocessing as mp

from harness.errors import SpecError
from reproductions.fg2u import Workers, all_workers, hypergradient
from tests.reproductions.fg2u.small import quadratic

NUM_DIRECTIONS = 5


def estimate(workers: Workers, seed: int = 4, shift: float = 0.0) -> dict[str, Any]:
    problem, phi = quadratic(num_steps=4)
    phi = phi + shift
    method = hypergradient("fg2u", num_directions=NUM_DIRECTIONS, chunk=2, workers=workers)
    meta = method(problem, phi, None, torch.Generator().manual_seed(seed))
    return {"grad": meta.grad, "noise": meta.stats.noise_norm, "value": meta.outer_value}


def work(rank: int, count: int, folder: str) -> None:
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/meet{count}", rank=rank, world_size=count
    )
    # The first one's generator counts, as where nobody gives one and each process has its own.
    found = estimate(all_workers(), seed=4 + rank)
    try:
        estimate(all_workers(), shift=float(rank))
    except SpecError as error:
        found["told"] = str(error)
    torch.save(found, f"{folder}/{count}-{rank}.pt")
    torch.distributed.destroy_process_group()


def test_processes_agree_with_one(tmp_path: Path) -> None:
    count, alone = 2, estimate(Workers())
    # Forked: what is loaded here need not be loaded anew.
    mp.start_processes(work, args=(count, str(tmp_path)), nprocs=count, start_method="fork")
    for rank in range(count):
        shared = torch.load(tmp_path / f"{count}-{rank}.pt")
        assert torch.allclose(shared["grad"], alone["grad"], rtol=1e-12)
        assert shared["noise"] == pytest.approx(alone["noise"], rel=1e-12)
        assert torch.equal(shared["value"], alone["value"])
        assert re.match(r"workers see outer losses from \S+ to \S+: give all of them the same",
                        shared["told"])  # fmt: skip


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_every_direction_is_one_worker_s(count: int) -> None:
    shares = [Workers(rank=rank, count=count).own(NUM_DIRECTIONS) for rank in range(count)]
    assert [number for share in shares for number in share] == list(range(NUM_DIRECTIONS))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
