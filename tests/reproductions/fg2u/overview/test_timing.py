"""Time of estimates: what is timed for real, alone and with another process."""

from __future__ import annotations

from pathlib import Path

import torch
import torch.multiprocessing as mp

from harness.data.bundled import digits
from reproductions.fg2u.method.workers import all_workers
from reproductions.fg2u.overview.experiment import Timing, timed_of, timings
from reproductions.fg2u.overview.timing import (
    Given,
    in_turn,
)

SMOKE = Timing.from_json(timings.params_of("smoke")[0])


def given() -> Given:
    real = digits()
    return {
        "pixels": real["x"][:50].tolist(), "labels": real["y"][:50].tolist(), "init": 1,
        "directions": 2,
    }  # fmt: skip


def work(rank: int, folder: str) -> None:
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2
    )
    torch.save(in_turn(SMOKE, given(), all_workers()), f"{folder}/{rank}.pt")
    torch.distributed.destroy_process_group()


def test_the_second_process_takes_part_where_directions_are_shared(tmp_path: Path) -> None:
    # Forked: what is loaded here need not be loaded anew.
    mp.start_processes(work, args=(str(tmp_path),), nprocs=2, start_method="fork")
    first, second = (torch.load(tmp_path / f"{rank}.pt") for rank in range(2))
    assert {len(each) for each in first} == {SMOKE.num_timed}
    for one, samples in zip(timed_of(SMOKE), second, strict=True):
        assert len(samples) == (SMOKE.num_timed if one.workers == 2 else 0), one
