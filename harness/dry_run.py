"""`--dry-run`: what the trials of a profile would take, without computing them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.registry import walk_experiments
from harness.task import Experiment, Profile, Task

ASSUMED_FLOPS_PER_S = {"smoke": 2e10, "cpu": 2e10, "gpu": 2e14, "paper": 2e14}
"""Sustained speed behind the printed hours: a CPU core, and an H100-class GPU in bf16."""


def dry_runs(tasks: Sequence[Task], profile: Profile) -> list[dict[str, Any]]:
    """Return one row per experiment and distinct shape; what trains nothing is absent."""
    rows = []
    experiments = dict.fromkeys(
        experiment for task in tasks for experiment in walk_experiments(task)
    )
    for experiment in experiments:
        if experiment.dry_run is not None:
            rows.extend(_shapes(experiment, profile))
    return rows


def _shapes(experiment: Experiment, profile: Profile) -> list[dict[str, Any]]:
    assert experiment.dry_run is not None
    groups: dict[tuple[int, ...], list[Any]] = {}
    reports: dict[tuple[Any, ...], Any] = {}
    for point in experiment.params_of(profile):
        # What only changes numbers, not shapes, need not be built again.
        shape = tuple(
            (name, value)
            for name, value in sorted(point.items())
            if isinstance(value, (int, str)) and name not in ("seed", "scheme")
        )
        if shape not in reports:
            reports[shape] = experiment.dry_run(point)
        report = reports[shape]
        group = (
            report.num_params,
            report.expected_num_params,
            report.memory_bytes,
            report.step_flops,
            report.num_steps,
        )
        groups.setdefault(group, []).append(report)
    return [
        {
            "experiment": experiment.id,
            "trials": len(members),
            "parameters": members[0].num_params,
            "expected": members[0].expected_num_params,
            "memory_GiB": _short(members[0].memory_bytes / 2**30),
            "step_TFLOP": _short(members[0].step_flops / 1e12),
            "steps": members[0].num_steps,
            "hours_a_trial": _short(
                members[0].step_flops * members[0].num_steps / ASSUMED_FLOPS_PER_S[profile] / 3600
            ),
        }
        for members in groups.values()
    ]


def _short(number: float) -> float:
    """Return three significant digits: fixed decimals would print a small trial as nothing."""
    return float(f"{number:.3g}")
