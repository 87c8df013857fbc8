"""The control measurement on the machine at hand."""

from __future__ import annotations

import json
import time

import pytest
import torch

from harness.errors import EnvError
from harness.measure.control import measure_control


def test_control_is_quick_and_plausible() -> None:
    start = time.perf_counter()
    result = measure_control("cpu")
    # It stands in every record of an experiment that measures: smoke has two seconds in all.
    assert time.perf_counter() - start < 1.5
    # Far outside of what any core does, so that only a wrong unit or factor fails.
    assert 0.2 < result.copy_gb_per_s < 1_000
    assert 0.5 < result.matmul_gflop_per_s < 5_000
    assert result.num_samples >= 5


def test_copy_rate_agrees_with_a_timing_by_hand() -> None:
    source, target = torch.ones(2**23), torch.empty(2**23)
    times = []
    for _ in range(10):
        start = time.perf_counter()
        target.copy_(source)
        times.append(time.perf_counter() - start)
    by_hand = 2 * 2**25 / min(times) / 1e9
    # Threads and load differ; a factor of the bytes, or of a thousand, would not hide.
    assert measure_control("cpu").copy_gb_per_s == pytest.approx(by_hand, rel=0.9)


def test_control_becomes_json() -> None:
    result = measure_control("cpu", budget_s=0.01)
    known = json.loads(json.dumps(result.to_json()))
    # A record's control is a mapping to numbers, checked strictly when it is read.
    assert {"copy_gb_per_s", "matmul_gflop_per_s", "num_samples"} <= set(known)
    assert all(isinstance(value, (int, float)) for value in known.values())


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is present")
def test_cuda_without_a_gpu_says_so() -> None:
    with pytest.raises(EnvError, match="needs a GPU"):
        measure_control("cuda")


@pytest.mark.gpu
def test_control_on_a_gpu_is_plausible() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    result = measure_control("cuda")
    assert 20 < result.copy_gb_per_s < 20_000
    assert 500 < result.matmul_gflop_per_s < 5e6
