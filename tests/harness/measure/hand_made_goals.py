"""Goals and baselines made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.measure.goals import Document, Goal, Measured

MACHINE: dict[str, Any] = {
    "cpu": "Some CPU", "cpu_id": "Maker family 1 model 2 stepping 3", "isa": "avx2",
    "num_cores": 2, "gpus": [],
}  # fmt: skip
KIND = "some-cpu-family-1-model-2-avx2-2-cores"
CONTROL = {"copy_gb_per_s": 4.0, "matmul_gflop_per_s": 9.0}
AT_MOST = Goal(limit=0.5, unit="s", direction="at_most")


def goal_of(
    name: str,
    measured: float,
    *,
    goal: Goal = AT_MOST,
    samples: Sequence[float] = (),
    speed: float = 1.0,
    other_cores: float | None = 0.0,
    **told: Any,
) -> Measured:
    """Return what a benchmark found; `speed`: of the machine, over the usual."""
    control = {kind: value * speed for kind, value in CONTROL.items()}
    fields: dict[str, Any] = {
        "exact": False, "from_records": False, "note": "", "wall_s": 30.0, "load_average": 0.0,
        "versions": {}, "commit": "unknown", "dirty": False, "date": "2025-01-01T00:00:00+00:00",
    }  # fmt: skip
    return Measured(
        name=name, goal=goal, measured=measured, samples=list(samples),
        controls=[control, control], other_cores=other_cores, **{**fields, **told},
    )  # fmt: skip


def document_of(*goals: Measured, machine: dict[str, Any] = MACHINE) -> Document:
    """Return what pytest-benchmark would write."""
    entries = [
        {
            "name": goal.name,
            "fullname": f"tests/benchmarks/bench_{goal.name}.py::test_it",
            "extra_info": goal.model_dump(mode="json"),
            "stats": {"data": goal.samples},
        }
        for goal in goals
    ]
    return {"machine_info": machine, "commit_info": {"id": "unknown"}, "benchmarks": entries}
