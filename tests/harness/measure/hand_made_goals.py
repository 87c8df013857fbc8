"""Goals and baselines made by hand."""

from __future__ import annotations

from typing import Any

from harness.measure.goals import Baseline, Goal, Measured

MACHINE: dict[str, Any] = {
    "cpu": "Some CPU", "cpu_id": "Maker family 1 model 2 stepping 3", "isa": "avx2",
    "num_cores": 2, "gpus": [],
}  # fmt: skip
KIND = "some-cpu-family-1-model-2-avx2-2-cores"
AT_MOST = Goal(limit=0.5, unit="s", direction="at_most")


def goal_of(name: str, measured: float, **told: Any) -> Measured:
    """Return what a benchmark found."""
    fields: dict[str, Any] = {
        "goal": AT_MOST, "samples": [], "exact": False, "from_records": False, "note": "",
        "wall_s": 30.0, "load_average": 0.0, "other_cores": 0.0, "versions": {},
        "commit": "unknown", "dirty": False, "date": "2025-01-01T00:00:00+00:00",
    }  # fmt: skip
    return Measured(name=name, measured=measured, **{**fields, **told})


def baseline_of(*goals: Measured, machine: dict[str, Any] = MACHINE) -> Baseline:
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
    document = {"machine_info": machine, "commit_info": {"id": "unknown"}, "benchmarks": entries}
    return Baseline.model_validate(document)
