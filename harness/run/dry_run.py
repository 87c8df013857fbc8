"""`--dry-run`: what the trials of a profile would take, without computing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.declare.experiment import DryRun, Experiment
from harness.declare.params import Scalar
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.store.trial import Trial, trials_behind


def dry_runs(
    tasks: Sequence[Task],
    profile: Profile,
    overrides: Mapping[str, Scalar] | None = None,
) -> list[dict[str, Any]]:
    """Return one row per experiment and distinct shape; what trains nothing is absent.

    Upstream, only the trials that the tasks start from count. Raises as `trials_behind`.
    """
    members: dict[Experiment, list[Trial]] = {}
    for trial in trials_behind(tasks, profile, overrides):
        members.setdefault(trial.experiment, []).append(trial)
    rows = []
    for experiment, trials in members.items():
        if experiment.dry_run is not None:
            rows.extend(_shapes(experiment, trials))
    return rows


def _shapes(experiment: Experiment, trials: Sequence[Trial]) -> list[dict[str, Any]]:
    assert experiment.dry_run is not None
    dry_run = experiment.function(experiment.dry_run)
    members: dict[DryRun, list[Trial]] = {}
    reports: dict[tuple[Any, ...], DryRun | None] = {}
    for trial in trials:
        # What only changes numbers, not shapes, need not be built again.
        shape = tuple(
            (name, value)
            for name, value in sorted(trial.params.items())
            if isinstance(value, (int, str)) and name not in ("seed", "scheme")
        )
        if shape not in reports:
            reports[shape] = dry_run(experiment.typed(trial.params))
        report = reports[shape]
        if report is not None:
            members.setdefault(report, []).append(trial)
    return [_row(experiment, report, group) for report, group in members.items()]


def _row(experiment: Experiment, report: DryRun, trials: Sequence[Trial]) -> dict[str, Any]:
    estimates = [experiment.estimate_of(trial.params) for trial in trials]
    seconds = [estimate.seconds for estimate in estimates if estimate is not None]
    return {
        "experiment": experiment.id,
        "trials": len(trials),
        "parameters": report.num_params,
        "expected": report.expected_num_params,
        "memory_GiB": _short(report.memory_bytes / 2**30),
        "step_TFLOP": _short(report.step_flops / 1e12),
        "steps": report.num_steps,
        "hours_a_trial": _short(max(seconds) / 3600) if seconds else None,
    }


def _short(number: float) -> float:
    """Return three significant digits: fixed decimals would print a small trial as nothing."""
    return float(f"{number:.3g}")
