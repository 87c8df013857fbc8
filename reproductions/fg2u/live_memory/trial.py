"""From a setting to the peak of live bytes of one estimate per method, and on a GPU its time."""

from __future__ import annotations

import time
from dataclasses import asdict

import torch
from torch import Tensor

from harness.declare import Row, RunContext
from harness.measure.live_bytes import peak_of
from reproductions.fg2u.live_memory.experiment import (
    LR,
    MOMENTUM,
    TERMS,
    Counted,
    Setting,
    counted_of,
)
from reproductions.fg2u.method.estimator import Estimator
from reproductions.fg2u.method.methods import fitted
from reproductions.fg2u.method.optimizers import Sgd
from reproductions.fg2u.method.problem import Problem
from reproductions.fg2u.method.trees import num_bytes, num_entries, tree_map
from reproductions.fg2u.models.draws import generator_of
from reproductions.fg2u.models.images import NETS, Judge, training_images

CIFAR = (3, 32, 32)


def peak_rows(setting: Setting, ctx: RunContext) -> list[Row]:
    """Take one estimate per method; one row each with its peak, and on a GPU its seconds."""
    problem, phi, batch = problem_of(setting, ctx)
    sizes = {
        "num_meta": num_entries(phi),
        "num_inner": num_entries(batch.init),
        "phi_bytes": num_bytes(phi),
    }
    seed = ctx.seed("directions")
    return [
        {**asdict(one), **sizes, **peak_and_seconds(one, problem, phi, batch, seed)}
        for one in counted_of(setting)
    ]


def problem_of(setting: Setting, ctx: RunContext) -> tuple[Problem, Tensor, Judge]:
    """Return the problem, noise images as phi, and digits (on a GPU noise too) that judge."""
    net, generator = NETS[setting.net], generator_of(ctx, "init")
    init, count = net.drawn(generator), setting.outer_batch
    if setting.device == "cuda":
        images, labels = torch.rand(count, *CIFAR, generator=generator), torch.arange(count) % 10
    else:
        arrays = ctx.dataset("digits").arrays
        images = torch.tensor(arrays["x"][:count], dtype=torch.float32)[:, None] / 16.0
        labels = torch.tensor(arrays["y"][:count], dtype=torch.int64)
    phi = torch.rand(setting.num_images, *images.shape[1:], generator=generator)
    init, images, labels, phi = tree_map(
        lambda leaf: leaf.to(setting.device), (init, images, labels, phi)
    )
    problem = training_images(
        net,
        num_steps=setting.depth,
        optimizer=Sgd(lr=LR, momentum=MOMENTUM),
        inner_batch=setting.inner_batch,
    )
    return problem, phi, Judge(init=init, images=images, labels=labels)


def peak_and_seconds(
    one: Counted, problem: Problem, phi: Tensor, batch: Judge, seed: int
) -> dict[str, int | float | None]:
    """Return the peak; on a GPU the time of a second estimate too, where one had room.

    A CPU counts bytes, which slows it: there `step_time` has the times.
    """
    peak = peak_bytes(one, problem, phi, batch, seed)
    if phi.device.type == "cpu" or peak is None:
        return {"peak_bytes": peak, "seconds": None}
    torch.cuda.synchronize()
    start = time.perf_counter()
    again = peak_bytes(one, problem, phi, batch, seed)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    return {"peak_bytes": peak, "seconds": None if again is None else seconds}


def peak_bytes(one: Counted, problem: Problem, phi: Tensor, batch: Judge, seed: int) -> int | None:
    """Return the peak beyond phi, data and initial weights; None where a GPU had no room."""
    try:
        if one.method == "plain":
            return plain_peak_bytes(problem, phi, batch)
        estimator = estimator_of(one)
        return estimator.peak_bytes(problem, phi, batch, torch.Generator().manual_seed(seed))
    except torch.cuda.OutOfMemoryError:
        return None


def plain_peak_bytes(problem: Problem, phi: Tensor, batch: Judge) -> int | None:
    """Return the peak of the unroll alone, its outer loss included."""
    with torch.no_grad():
        return peak_of(lambda: problem.unroll(phi, batch), measured=True, device=phi.device)[1]


def estimator_of(one: Counted) -> Estimator:
    """Return a method, with as many directions as it carries at once."""
    return fitted(
        one.method, num_directions=one.chunk, chunk=one.chunk, keep=one.keep, segment=one.segment,
        terms=TERMS,
    )  # fmt: skip
