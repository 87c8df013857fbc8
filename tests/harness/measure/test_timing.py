"""Timing against clocks that are known: sleeps, and a clock that the test moves by hand."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import pytest
import torch

from harness.errors import SpecError
from harness.measure.timing import measure_interleaved, quantiles


@pytest.mark.timing
def test_a_sleep_is_measured_to_its_length() -> None:
    (timing,) = measure_interleaved(
        [lambda: time.sleep(0.005)], device="cpu", warmup_s=0.0, min_samples=5, budget_s=0.0
    )
    assert len(timing.samples_ms) == 5
    # A sleep is never shorter than asked; how much longer, the load decides.
    assert min(timing.samples_ms) >= 5.0
    assert timing.p20_ms <= timing.median_ms <= timing.p80_ms
    assert timing.median_ms == statistics.median(timing.samples_ms)


@pytest.mark.timing
def test_warm_up_is_left_out() -> None:
    calls: list[float] = []

    def slow_at_first() -> None:
        calls.append(time.perf_counter())
        time.sleep(0.4 if len(calls) == 1 else 0.0)

    (timing,) = measure_interleaved(
        [slow_at_first], device="cpu", warmup_s=0.02, min_samples=3, budget_s=0.0
    )
    assert len(calls) > len(timing.samples_ms) == 3
    assert max(timing.samples_ms) < 400.0


def test_interleaved_functions_take_turns() -> None:
    order: list[str] = []
    first, second = measure_interleaved(
        [_noting(order, "a"), _noting(order, "b")],
        device="cpu",
        warmup_s=0.0,
        min_samples=4,
        budget_s=0.0,
    )
    assert order == ["a", "b"] * 4
    assert len(first.samples_ms) == len(second.samples_ms) == 4


def test_torch_runs_one_thread_and_gets_its_own_back() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    seen: set[int] = set()
    try:
        measure_interleaved(
            [lambda: seen.add(torch.get_num_threads())],
            device="cpu",
            warmup_s=0.0,
            min_samples=2,
            budget_s=0.0,
        )
        assert seen == {1}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_one_sample_is_refused() -> None:
    with pytest.raises(SpecError, match="min_samples=1"):
        measure_interleaved([lambda: None], device="cpu", warmup_s=0.0, min_samples=1, budget_s=0.0)


@pytest.mark.parametrize("size", [2, 3, 7, 20])
def test_quantiles_are_numpys(size: int) -> None:
    samples = list(np.random.default_rng(size).exponential(size=size))
    np.testing.assert_allclose(quantiles(samples), np.quantile(samples, [0.2, 0.5, 0.8]))


@pytest.mark.gpu
@pytest.mark.timing
def test_gpu_time_is_that_of_the_kernel_not_of_the_launch() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    cycles = 10_000_000
    short, long = measure_interleaved(
        [lambda: torch.cuda._sleep(cycles), lambda: torch.cuda._sleep(4 * cycles)],
        device="cuda",
        warmup_s=0.2,
        min_samples=20,
        budget_s=0.2,
    )
    assert long.median_ms / short.median_ms == pytest.approx(4.0, rel=0.1)


def _noting(order: list[str], name: str) -> Callable[[], None]:
    return lambda: order.append(name)
