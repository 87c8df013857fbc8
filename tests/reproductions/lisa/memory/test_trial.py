"""GaLore among the trials of memory: where it runs, of which rank, and its peak on a GPU."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import torch

from harness.declare.experiment import Status
from harness.declare.profiles import Profile
from harness.errors import RunError
from harness.measure.memory import GpuPeak
from reproductions.lisa.memory import trial
from reproductions.lisa.memory.experiment import Step, grid
from reproductions.lisa.memory.trial import (
    MEASURED_STEPS,
    WARM_STEPS,
    first_axes,
    memory_row,
    method_of,
    steps_on,
)
from reproductions.lisa.method import galore
from reproductions.lisa.method.methods import Galore
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.models.steps.memory import Workload, count
from tests.reproductions.lisa.made import Upstream


def galore_steps(profile: Profile) -> list[Step]:
    return [step for step in grid(profile) if step.method == "galore"]


@pytest.mark.parametrize("rank", [3, 50])
@pytest.mark.parametrize("shape", [(9, 4), (4, 9), (5, 5)])
def test_first_axes_are_a_projector_like_galore_s_own(shape: tuple[int, int], rank: int) -> None:
    gradient = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.bfloat16)
    axes, own = first_axes(gradient, rank), galore.projector(gradient, rank)
    assert (axes.shape, axes.stride(), axes.dtype) == (own.shape, own.stride(), own.dtype)
    assert axes.untyped_storage().nbytes() == own.untyped_storage().nbytes()
    rows = axes if shape[0] >= shape[1] else axes.T
    torch.testing.assert_close(rows @ rows.T, torch.eye(len(rows), dtype=axes.dtype))


def test_on_a_gpu_a_step_of_galore_takes_what_a_real_one_does() -> None:
    (real,) = (step for step in galore_steps("smoke") if step.how == "count")
    shape = shape_of(real.shape)
    methods = [method_of(step, shape) for step in (real, replace(real, how="gpu"))]
    assert methods == [Galore(rank=1), Galore(rank=1, basis_of=first_axes)]
    found = [count(shape.config(), each, Workload.of(real), device="cpu") for each in methods]
    assert found[0] == found[1]


ON_A_GPU = [replace(step, how="gpu") for step in grid("smoke") if step.how == "count"]


@pytest.mark.parametrize("step", ON_A_GPU, ids=lambda step: f"{step.method}{step.rank}{step.gamma}")
def test_what_a_gpu_s_peak_is_of_runs_on_a_cpu_too(step: Step) -> None:
    assert list(steps_on("cpu", step)) == list(range(WARM_STEPS + MEASURED_STEPS))


@pytest.mark.parametrize(
    ("error", "peaks", "status"),
    [
        ("", (2, 3), Status.DONE),
        ("torch.OutOfMemoryError: CUDA out of memory", (None, None), Status.OOM),
    ],
)
def test_a_row_has_the_peaks_of_a_gpu_or_none(
    error: str, peaks: tuple[int | None, ...], status: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ON_A_GPU[0]

    def peak(function: Any, params: dict[str, Any]) -> GpuPeak:
        # As they reach the fresh process.
        assert function is trial.gpu_steps
        assert Step.from_json(json.loads(json.dumps(params))) == asked
        if error:
            raise RunError(error)
        return GpuPeak(allocated_bytes=2, reserved_bytes=3)

    monkeypatch.setattr(trial, "gpu_peak", peak)
    found = memory_row(asked, Upstream({}))  # type: ignore[arg-type]
    (row,) = found.rows
    assert (row["peak_allocated_bytes"], row["peak_reserved_bytes"]) == peaks
    assert found.status == status
