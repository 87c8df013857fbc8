"""From the parameters of a step-time trial to its rows: one per method and phase."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import torch

from harness.declare import Row, RunContext
from harness.declare.experiment import Device
from harness.measure.fresh_process import call_fresh
from harness.measure.machine import load_average
from reproductions.lisa.method.methods import from_params
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.models.steps.memory import Workload
from reproductions.lisa.step_time.experiment import Timed, Timing, methods_of
from reproductions.lisa.step_time.timing import (
    NO_SWITCH,
    Step,
    Times,
    cold_times,
    freed,
    warm_times,
)


def time_rows(params: Timing, ctx: RunContext) -> list[Row]:
    """Time one step of the trial's methods, warm and in turn, or one method's cold first step.

    One row per method and phase.
    """
    rows = _cold_rows if params.cold else _warm_rows
    return list(rows(params, ctx.device, ctx.seed("init")))


def cold_step(*, params: dict[str, Any], device: Device, seed: int) -> dict[str, float]:
    """Build a model in this process, which has computed nothing yet, and time its first step."""
    torch.set_num_threads(1)
    timing = Timing.from_json(params)
    (timed,) = methods_of(timing)
    return cold_times(_step(timing, timed, device=device, seed=seed), device=device)


def _warm_rows(params: Timing, device: Device, seed: int) -> Iterator[Row]:
    with freed(device):
        times = _warm_times(params, device, seed)
    for timed, found in zip(methods_of(params), times, strict=True):
        for phase, samples in found.samples_ms.items():
            flops = found.flops[phase]
            yield _row(timed, phase, samples, flops=flops, load=found.load_average)


def _warm_times(params: Timing, device: Device, seed: int) -> list[Times]:
    # Dropout draws from the global generator, which other trials of this process share.
    with torch.random.fork_rng():
        steps = [_step(params, one, device=device, seed=seed) for one in methods_of(params)]
        return warm_times(
            steps, device=device, num_warmup=params.num_warmup, num_timed=params.num_timed
        )


def _cold_rows(params: Timing, device: Device, seed: int) -> Iterator[Row]:
    (timed,) = methods_of(params)
    load = load_average()
    told = {"params": params.to_json(), "device": device, "seed": seed}
    for phase, sample_ms in call_fresh(cold_step, told).items():
        yield _row(timed, phase, [sample_ms], flops=None, load=load)


def _row(
    timed: Timed, phase: str, samples_ms: Sequence[float], *, flops: int | None, load: float | None
) -> Row:
    low, median, high = map(float, np.quantile(samples_ms, (0.25, 0.5, 0.75)))
    return {
        **asdict(timed),
        "phase": phase,
        "num_samples": len(samples_ms),
        "flops": flops,
        "median_ms": median,
        "p25_ms": low,
        "p75_ms": high,
        "load_average": load,
    }


def _step(params: Timing, timed: Timed, *, device: Device, seed: int) -> Step:
    method = from_params(
        timed.method,
        rank=timed.rank,
        alpha=float(timed.rank),
        dropout=timed.dropout,
        embeddings=True,
        gamma=timed.gamma,
        period=NO_SWITCH,
        seed=seed,
    )
    workload = Workload.of(params)
    return Step(method, shape_of(params.shape), workload, device=device, seed=seed)
