"""The control measurement on the machine at hand."""

from __future__ import annotations

import itertools
import time
from types import SimpleNamespace

import pytest
import torch

from harness.errors import EnvError
from harness.measure import timing
from harness.measure.control import measure_control


@pytest.mark.timing
def test_control_is_quick_and_plausible() -> None:
    start = time.perf_counter()
    result = measure_control("cpu")
    # It stands in every record of an experiment that measures: smoke has two seconds in all.
    assert time.perf_counter() - start < 1.5
    # Far outside of what any core does, so that only a wrong unit or factor fails.
    assert 0.2 < result["copy_gb_per_s"] < 1_000
    assert 0.5 < result["matmul_gflop_per_s"] < 5_000
    assert result["num_samples"] >= 5


def test_rates_follow_from_a_clock_of_one_millisecond_a_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ticks = itertools.count(step=1_000_000)
    clock = SimpleNamespace(perf_counter=time.perf_counter, perf_counter_ns=lambda: next(ticks))
    monkeypatch.setattr(timing, "time", clock)
    result = measure_control("cpu", budget_s=0.01)
    # 32 MiB read and written, and 2 * 384^3 operations, each in a thousandth of a second.
    assert result["copy_gb_per_s"] == pytest.approx(67.108864)
    assert result["matmul_gflop_per_s"] == pytest.approx(113.246208)


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is present")
def test_cuda_without_a_gpu_says_so() -> None:
    with pytest.raises(EnvError, match="needs a GPU"):
        measure_control("cuda")


@pytest.mark.gpu
def test_control_on_a_gpu_is_plausible() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    result = measure_control("cuda")
    assert 20 < result["copy_gb_per_s"] < 20_000
    assert 500 < result["matmul_gflop_per_s"] < 5e6
