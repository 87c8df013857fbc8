"""The control measurement on the machine at hand."""

from __future__ import annotations

import time

import pytest
import torch

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


@pytest.mark.gpu
def test_control_on_a_gpu_is_plausible() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    result = measure_control("cuda")
    assert 20 < result["copy_gb_per_s"] < 20_000
    assert 500 < result["matmul_gflop_per_s"] < 5e6
