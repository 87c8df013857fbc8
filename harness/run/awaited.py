"""What tasks wait for that few machines have, and what a page says of one that was not run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Literal

from harness.declare.experiment import Experiment, Needs
from harness.declare.overrides import Overrides
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.registry import experiments_of
from harness.store.trial import trials_behind
from harness.store.workspace import COMMITTED_PROFILES

Awaited = Literal["", "card", "judge"]


def awaited_by(task: Task) -> Awaited:
    """Return what a task waits for: a card for its only trials, or a judge model at `cpu`."""
    experiments = experiments_of([task])
    scales = {scale for each in experiments for scale in _scales(each)}
    if scales == {"gpu"}:
        return "card"
    return "judge" if "cpu" in scales and any(map(_needs_judge, experiments)) else ""


@cache
def _scales(experiment: Experiment) -> list[Profile]:
    return [profile for profile in COMMITTED_PROFILES if experiment.has_grid(profile)]


@cache
def _needs_judge(experiment: Experiment) -> bool:
    if isinstance(experiment.needs, Needs):
        return experiment.needs.judge
    return any(experiment.needs_of(point).judge for point in experiment.params_of("cpu"))


def run_command(task: Task, profile: Profile, overrides: Overrides) -> str:
    """Return the command that runs a task at a profile, or where it is run if that has no trial."""
    scales = (profile, *COMMITTED_PROFILES)
    at = next((p for p in scales if trials_behind([task], p, overrides)), profile)
    if at == "gpu" and awaited_by(task) == "card" and not overrides:
        return f"make gpu ONLY={task.id}"
    return f"repro run {task.id} --profile {at}{overrides.options}"


def run_elsewhere(tasks: Iterable[Task], profile: Profile, overrides: Overrides) -> Iterator[str]:
    """Yield a line for each of some tasks that has no trial at a profile: what runs it."""
    for task in tasks:
        if not trials_behind([task], profile, overrides):
            command = run_command(task, profile, overrides)
            is_none = command == f"repro run {task.id} --profile {profile}{overrides.options}"
            yield f"{task.id} has no trial at {profile}" + ("" if is_none else f": {command}")


def awaited_text(task: str, awaited: Awaited) -> str:
    """Say why a task was not run, and which command runs it; nothing if it waits for nothing.

    >>> awaited_text("lisa/with_kernels", "card")
    'it needs a GPU; on a machine with one `make gpu ONLY=lisa/with_kernels` runs it'
    """
    if awaited == "card":
        return f"it needs a GPU; on a machine with one `make gpu ONLY={task}` runs it"
    if awaited == "judge":
        return (
            "it needs a judge model; where REPRO_JUDGE_URL and REPRO_JUDGE_MODEL name one"
            f" `repro run {task} --profile cpu` runs it"
        )
    return ""
