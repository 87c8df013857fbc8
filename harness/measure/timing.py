"""Time of a function: warm-up by time, all samples kept, median with 20/80 quantiles.

GPU: CUDA events, L2 cache flushed before each sample. CPU: wall clock, one torch thread.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from harness.declare.experiment import Device
from harness.errors import EnvError, SpecError
from harness.measure.machine import load_average

Work = Callable[[], object]
_GPU_BATCH = 10
"""Rounds issued to a GPU before a synchronise: its queue must not run dry between samples."""
_FLUSH_FACTOR = 4
"""The flush writes this many times the L2 cache."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Timing:
    """All samples of one function, and their summary."""

    samples_ms: tuple[float, ...]
    """In the order they were taken."""
    median_ms: float
    p20_ms: float
    p80_ms: float
    load_average: float | None
    """One-minute load average before the first sample; None where the system keeps none."""


def measure_interleaved(
    fns: Sequence[Work], *, device: Device, warmup_s: float, min_samples: int, budget_s: float
) -> list[Timing]:
    """Time functions in turn, so that a drift of the machine meets all alike.

    fns: each does its work once; on cuda it issues work to the current stream. They are timed until
    `budget_s` is spent and at least `min_samples` are taken; both, and `warmup_s`, count per
    function. Sample i of each function was taken in round i: ratios may be paired.
    Raises SpecError for fewer than two samples, EnvError for cuda without a GPU.
    """
    if min_samples < 2:
        raise SpecError(f"min_samples={min_samples}: a median with quantiles needs at least 2")
    load = load_average()
    take = _gpu_sampler(fns) if device == "cuda" else _cpu_sampler(fns)
    with _one_thread():
        warm_until = time.perf_counter() + warmup_s * len(fns)
        while time.perf_counter() < warm_until:
            take()
        rounds: list[Sequence[float]] = []
        stop = time.perf_counter() + budget_s * len(fns)
        while len(rounds) < min_samples or time.perf_counter() < stop:
            rounds.extend(take())
    return [_summary([samples[i] for samples in rounds], load) for i in range(len(fns))]


def quantiles(samples: Sequence[float]) -> tuple[float, float, float]:
    """Return the 20 % quantile, the median and the 80 % quantile, interpolated linearly.

    >>> quantiles([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    (2.0, 3.5, 5.0)
    """
    fifths = statistics.quantiles(samples, n=5, method="inclusive")
    return fifths[0], statistics.median(samples), fifths[3]


def _summary(samples: Sequence[float], load: float | None) -> Timing:
    low, median, high = quantiles(samples)
    return Timing(
        samples_ms=tuple(samples), median_ms=median, p20_ms=low, p80_ms=high, load_average=load
    )


def _cpu_sampler(fns: Sequence[Work]) -> Callable[[], list[Sequence[float]]]:
    """Return a function that takes one round: one sample in ms of each function."""

    def take() -> list[Sequence[float]]:
        samples = []
        for fn in fns:
            start = time.perf_counter_ns()
            fn()
            samples.append((time.perf_counter_ns() - start) / 1e6)
        return [samples]

    return take


def _gpu_sampler(fns: Sequence[Work]) -> Callable[[], list[Sequence[float]]]:
    """Return a function that takes `_GPU_BATCH` rounds with one synchronise at the end.

    Were each sample synchronised, the GPU would idle through the launch, and the time between
    the events would be the launch's. The flush before each sample keeps the queue filled too.
    """
    import torch

    if not torch.cuda.is_available():
        raise EnvError("timing on cuda needs a GPU, torch finds none: run with device cpu")
    cache_bytes = torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size
    flush = torch.empty(_FLUSH_FACTOR * cache_bytes, dtype=torch.uint8, device="cuda")

    def sample(fn: Work) -> tuple[torch.cuda.Event, torch.cuda.Event]:
        event = partial(torch.cuda.Event, enable_timing=True)
        start, end = event(), event()
        flush.zero_()
        start.record()
        fn()
        end.record()
        return start, end

    def take() -> list[Sequence[float]]:
        torch.cuda.synchronize()
        pairs = [[sample(fn) for fn in fns] for _ in range(_GPU_BATCH)]
        torch.cuda.synchronize()
        return [[float(start.elapsed_time(end)) for start, end in row] for row in pairs]

    return take


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep torch to one thread; a function that never imported torch needs no torch."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
