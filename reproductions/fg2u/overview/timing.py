"""Estimates in turn, in one process or in several that share the directions."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from harness.measure.fresh_process import call_fresh
from reproductions.fg2u.method.estimator import Estimator
from reproductions.fg2u.method.methods import fitted
from reproductions.fg2u.method.optimizers import Sgd
from reproductions.fg2u.method.problem import Problem
from reproductions.fg2u.method.workers import ONE, Workers, all_workers
from reproductions.fg2u.models.images import NETS, Judge, training_images
from reproductions.fg2u.overview.experiment import LR, MOMENTUM, Timed, Timing, timed_of

Given = Mapping[str, Any]
"""Pixels and labels of the images that judge, as lists, and the trial's seeds."""
PATIENCE = timedelta(minutes=10)


def problem_of(timing: Timing, given: Given) -> tuple[Problem, Tensor, Judge]:
    """Return the problem, noise images as phi, and digits that judge."""
    net, generator = NETS[timing.net], torch.Generator().manual_seed(given["init"])
    images = torch.tensor(given["pixels"], dtype=torch.float32)[:, None] / 16.0
    problem = training_images(
        net,
        num_steps=timing.depth,
        optimizer=Sgd(lr=LR, momentum=MOMENTUM),
        inner_batch=timing.inner_batch,
    )
    phi = torch.rand(timing.inner_batch, *images.shape[1:], generator=generator)
    batch = Judge(init=net.drawn(generator), images=images, labels=torch.tensor(given["labels"]))
    return problem, phi, batch


def estimator_of(one: Timed, timing: Timing, workers: Workers) -> Estimator:
    """Return the method that is timed; `plain` is none."""
    return fitted(
        one.method, keep=timing.keep, num_directions=timing.num_directions, chunk=one.chunk,
        workers=workers if one.workers > 1 else ONE,
    )  # fmt: skip


def samples_of(timing: Timing, given: Given) -> list[list[float]]:
    """Return the seconds of each estimate, in the order of `timed_of`; start-up is not in them.

    With several processes a sample is the slowest one's.
    """
    if timing.max_workers == 1:
        return in_turn(timing, given, ONE)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(timing.max_workers) as pool:
        told = {"params": timing.to_json(), "given": dict(given), "folder": folder}
        calls = [
            pool.submit(call_fresh, in_a_process, {**told, "rank": rank}, timeout_s=1800.0)
            for rank in range(timing.max_workers)
        ]
        by_rank = [call.result() for call in calls]
    shared = zip(*by_rank, strict=True)
    return [[max(times) for times in zip(*(s for s in each if s), strict=True)] for each in shared]


def in_a_process(*, params: Any, given: Given, folder: str, rank: int) -> list[list[float]]:
    """Meet the other processes, and time with them."""
    torch.set_num_threads(1)
    timing = Timing.from_json(params)
    torch.distributed.init_process_group(
        "gloo",
        init_method=(Path(folder) / "meet").as_uri(),
        rank=rank,
        world_size=timing.max_workers,
        timeout=PATIENCE,
    )
    try:
        return in_turn(timing, given, all_workers())
    finally:
        torch.distributed.destroy_process_group()


def in_turn(timing: Timing, given: Given, workers: Workers) -> list[list[float]]:
    """Take rounds of all estimates, so that a drift of the machine meets all alike.

    Every process waits for the others before each estimate; what is one process's is the first's.
    """
    problem, phi, batch = problem_of(timing, given)
    estimates = [
        estimate_of(one, timing, workers, (problem, phi, batch), given["directions"])
        for one in timed_of(timing)
    ]
    samples: list[list[float]] = [[] for _ in estimates]
    for number in range(timing.num_warmup + timing.num_timed):
        for one, estimate, kept in zip(timed_of(timing), estimates, samples, strict=True):
            if workers.count > 1:
                torch.distributed.barrier()
            if workers.rank < one.workers:
                seconds = estimate()
                if number >= timing.num_warmup:
                    kept.append(seconds)
    return samples


def estimate_of(
    one: Timed,
    timing: Timing,
    workers: Workers,
    at: tuple[Problem, Tensor, Judge],
    seed: int,
) -> Callable[[], float]:
    """Return what takes one estimate and returns its seconds."""
    problem, phi, batch = at

    def plain() -> float:
        start = time.perf_counter()
        with torch.no_grad():
            problem.unroll(phi, batch)
        return time.perf_counter() - start

    def estimate() -> float:
        generator = torch.Generator().manual_seed(seed)
        return estimator_of(one, timing, workers)(problem, phi, batch, generator).stats.seconds

    return plain if one.method == "plain" else estimate
