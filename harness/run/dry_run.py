"""`--dry-run`: what the trials of a profile would take, without computing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.declare.experiment import DryRun
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
    reports: dict[tuple[Any, ...], DryRun | None] = {}
    members: dict[tuple[str, DryRun], list[Trial]] = {}
    for trial in trials_behind(tasks, profile, overrides):
        experiment = trial.experiment
        if experiment.dry_run is None:
            continue
        # What only changes numbers, not shapes, need not be built again.
        sizes = [(n, v) for n, v in trial.params.items() if isinstance(v, (int, str))]
        shape = (experiment.id, *((n, v) for n, v in sorted(sizes) if n not in ("seed", "scheme")))
        if shape not in reports:
            dry_run = experiment.function(experiment.dry_run)
            reports[shape] = dry_run(experiment.typed(trial.params))
        if report := reports[shape]:
            members.setdefault((experiment.id, report), []).append(trial)
    return [_row(report, trials) for (_, report), trials in members.items()]


def _row(report: DryRun, trials: Sequence[Trial]) -> dict[str, Any]:
    estimates = [trial.experiment.estimate_of(trial.params) for trial in trials]
    seconds = [estimate.seconds for estimate in estimates if estimate is not None]
    return {
        "experiment": trials[0].experiment.id,
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
