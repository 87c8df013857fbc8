"""Time of estimates: what is timed for real, alone and with another process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.multiprocessing as mp

from harness.data.bundled import digits
from reproductions.fg2u.method.workers import Workers, all_workers
from reproductions.fg2u.overview.experiment import Timed, Timing, timed_of, timings
from reproductions.fg2u.overview.timing import (
    Given,
    estimator_of,
    in_turn,
    problem_of,
)
from reproductions.fg2u.overview.trial import peak_bytes

SMOKE = Timing.from_json(timings.params_of("smoke")[0])
ALONE = replace(SMOKE, max_workers=1)


def given() -> Given:
    real = digits()
    return {
        "pixels": real["x"][:50].tolist(), "labels": real["y"][:50].tolist(), "init": 1,
        "directions": 2,
    }  # fmt: skip


def test_no_process_carries_more_directions_than_it_has() -> None:
    timed = timed_of(Timing.from_json(timings.params_of("cpu")[0]))
    chunks = {n: [one.chunk for one in timed if one.chunk and one.workers == n] for n in (1, 2)}
    assert chunks == {1: [1, 2, 4, 8, 16], 2: [1, 2, 4, 8]}


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


def test_warm_up_is_not_kept() -> None:
    longer = replace(ALONE, num_warmup=2, num_timed=3)
    assert {len(each) for each in in_turn(longer, given(), Workers())} == {3}


@pytest.mark.parametrize("chunk", [1, 2])
def test_a_process_of_two_holds_what_its_half_takes(chunk: int) -> None:
    one = Timed(method="fg2u", chunk=chunk)
    alone = peak_bytes(one, SMOKE, given())
    shared = peak_bytes(replace(one, workers=2), SMOKE, given())
    assert alone is not None and shared == pytest.approx(alone, rel=0.01)
    assert peak_bytes(replace(one, chunk=4), SMOKE, given()) > 1.4 * alone  # type: ignore[operator]


def test_directions_are_shared_only_where_the_row_says_so() -> None:
    pair = Workers(rank=1, count=2)
    options = {
        n: estimator_of(Timed(method="fg2u", chunk=1, workers=n), SMOKE, pair) for n in (1, 2)
    }
    assert options[1].workers.count == 1 and options[2].workers == pair  # type: ignore[attr-defined]


def test_the_problem_is_the_same_in_every_process() -> None:
    (problem, phi, batch), (other, same, again) = (problem_of(SMOKE, given()) for _ in range(2))
    assert torch.equal(phi, same) and torch.equal(batch.images, again.images)
    assert torch.equal(problem.unroll(phi, batch)[0], other.unroll(same, again)[0])
