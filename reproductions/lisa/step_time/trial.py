"""From the parameters of a step-time trial to its rows: one a method and phase."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from harness.declare.experiment import Device, RawParams, Row, RunContext
from harness.errors import SpecError
from harness.measure.fresh import call_fresh
from harness.measure.machine import load_average
from reproductions.lisa.method.methods import Full, Layerwise, Lora, Method
from reproductions.lisa.models.shapes import Shape, shape_of
from reproductions.lisa.models.step_memory import Workload
from reproductions.lisa.step_time.experiment import ALL, Point, points_of
from reproductions.lisa.step_time.timing import Step, Times, cold_times, warm_times

NO_SWITCH = 10**9
"""A period that no run reaches: the price of a switch is a benchmark of its own."""


def time_rows(params: RawParams, ctx: RunContext) -> list[Row]:
    """Time one step of the trial's methods, warm and in turn, or one method's cold first step."""
    rows = _cold_rows if params["cold"] else _warm_rows
    return list(rows(params, ctx.device, ctx.seed("init")))


def cold_step(*, params: dict[str, Any], point: dict[str, Any], device: Device, seed: int) -> Any:
    """Build a model in this process, which has computed nothing yet, and time its first step."""
    torch.set_num_threads(1)
    step = _step(params, point, device=device, seed=seed)
    return cold_times(step, device=device)


def _warm_rows(params: RawParams, device: Device, seed: int) -> Iterator[Row]:
    for point, found in zip(points_of(params), _warm_times(params, device, seed), strict=True):
        for phase, samples in found.samples_ms.items():
            flops = found.flops[phase]
            yield _row(point, phase, samples, flops=flops, load=found.load_average)


def _warm_times(params: RawParams, device: Device, seed: int) -> list[Times]:
    # Dropout draws from the global generator, which other trials of this process share.
    with torch.random.fork_rng():
        steps = [_step(params, point, device=device, seed=seed) for point in points_of(params)]
        times = warm_times(
            steps,
            device=device,
            num_warmup=int(params["num_warmup"]),
            num_timed=int(params["num_timed"]),
        )
    # LISA and its optimizer point at each other, and a cold start beside needs the room.
    steps.clear()
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()
    return times


def _cold_rows(params: RawParams, device: Device, seed: int) -> Iterator[Row]:
    (point,) = points_of(params)
    load = load_average()
    told = {"params": dict(params), "point": point, "device": device, "seed": seed}
    for phase, sample_ms in call_fresh(cold_step, told).items():
        yield _row(point, phase, [sample_ms], flops=None, load=load)


def _row(
    point: Point, phase: str, samples_ms: Sequence[float], *, flops: int | None, load: float | None
) -> Row:
    low, median, high = _quartiles(samples_ms)
    return {
        **point,
        "phase": phase,
        "num_samples": len(samples_ms),
        "flops": flops,
        "median_ms": median,
        "p25_ms": low,
        "p75_ms": high,
        "load_average": load,
    }


def _quartiles(samples: Sequence[float]) -> tuple[float, float, float]:
    """Return the quartiles, interpolated linearly; a single sample is all three.

    >>> _quartiles([1.0, 2.0, 3.0, 4.0, 5.0]), _quartiles([7.0])
    ((2.0, 3.0, 4.0), (7.0, 7.0, 7.0))
    """
    if len(samples) == 1:
        return samples[0], samples[0], samples[0]
    low, median, high = statistics.quantiles(samples, n=4, method="inclusive")
    return low, median, high


def _step(params: RawParams, point: Point, *, device: Device, seed: int) -> Step:
    shape = shape_of(str(params["shape"]))
    workload = Workload(
        seq_len=int(params["seq_len"]),
        batch_size=int(params["batch_size"]),
        dtype=str(params["dtype"]),
    )
    return Step(_method(point, shape, seed=seed), shape, workload, device=device, seed=seed)


def _method(point: Point, shape: Shape, *, seed: int) -> Method:
    rank, dropout = int(point["rank"]), float(point["dropout"])
    match point["method"]:
        case "full":
            return Full()
        case "lora":
            return Lora(rank=rank, alpha=float(rank), dropout=dropout, embeddings=True)
        case "lisa":
            return Layerwise(gamma=int(point["gamma"]), period=NO_SWITCH, seed=seed)
    raise SpecError(f"method={point['method']!r}: need one of {', '.join(ALL)}")
