"""Run or reuse, decided once per trial, with a reason and an estimate."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from math import fsum

from harness.data import load as datasets
from harness.declare.experiment import Estimate, Experiment, Needs, Status
from harness.declare.overrides import Overrides
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.measure import machine
from harness.settings import judge_fault
from harness.store.code import experiment_code
from harness.store.record import Record
from harness.store.store import RecordStore, Rejected
from harness.store.trial import Trial, check_overrides, grid_of

STALE = "its code changed since: run --stale re-runs it"


class Action(StrEnum):
    """What the runner does with a trial."""

    RUN = "run"
    REUSE = "reuse"
    BLOCKED = "blocked"


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedTrial:
    """One trial and what will happen to it."""

    trial: Trial
    action: Action
    reason: str
    estimate: Estimate
    stale: bool = False
    """Its record exists but its code changed since."""


@dataclass(slots=True)
class Plan:
    """All trials behind some tasks, upstream before those that start from them."""

    tasks: Sequence[Task]
    profile: Profile
    overrides: Overrides
    gpu_bytes: int
    """Memory of the card, which trials that run side by side share."""
    items: dict[str, PlannedTrial] = field(default_factory=dict)
    """By key."""

    def with_action(self, action: Action) -> list[PlannedTrial]:
        return [item for item in self.items.values() if item.action == action]

    @property
    def num_to_run(self) -> int:
        return len(self.with_action(Action.RUN))

    @property
    def seconds(self) -> float:
        """Core-seconds of what is to run."""
        return self.seconds_of(Action.RUN)

    def seconds_of(self, action: Action) -> float:
        return sum(item.estimate.seconds for item in self.with_action(action))

    def wall_s(self, num_workers: int) -> float:
        """Return about how long a run in so many processes takes.

        What is exclusive has all processes.
        """
        to_run = self.with_action(Action.RUN)
        alone = fsum(i.estimate.seconds for i in to_run if i.trial.needs.exclusive)
        shared = [i.estimate.seconds for i in to_run if not i.trial.needs.exclusive]
        return alone + max(fsum(shared) / num_workers, max(shared, default=0.0))


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineLimits:
    """What this machine can offer a trial; probed once, without importing torch."""

    memory_bytes: int
    has_cuda: bool
    gpu_bytes: int


def probe_limits() -> MachineLimits:
    """Look at memory and GPU, without importing torch."""
    found = machine.gpus()
    return MachineLimits(
        memory_bytes=machine.memory_bytes(),
        has_cuda=bool(found),
        gpu_bytes=max((gpu["memory_bytes"] for gpu in found), default=0),
    )


def lacking(needs: Needs, limits: MachineLimits) -> str:
    """Return the first thing that the machine lacks for a trial; empty where it lacks nothing.

    A card first: whoever has none need not install what runs on it.
    """
    if needs.device == "cuda" and not limits.has_cuda:
        return "needs a CUDA GPU: `make gpu` on a machine with one"
    for name in needs.data:
        if datasets.available(name) is None:
            return f"data set {name} is missing: {datasets.supply(name)}"
    for package in needs.packages:
        if not _is_installed(package):
            return f"needs the package {package}: pip install {package}"
    if needs.gpu_bytes > limits.gpu_bytes:
        return f"needs {_gb(needs.gpu_bytes)} of GPU memory, has {_gb(limits.gpu_bytes)}"
    if needs.memory_bytes > limits.memory_bytes:
        return f"needs {_gb(needs.memory_bytes)}, has {_gb(limits.memory_bytes)}"
    if needs.judge and (fault := judge_fault()):
        return f"needs a judge model: {fault}"
    return ""


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # the parent of a dotted name
        return False


def _gb(num_bytes: int) -> str:
    return f"{num_bytes / 2**30:.3g} GiB"


def make_plan(
    tasks: Sequence[Task],
    profile: Profile,
    store: RecordStore,
    limits: MachineLimits,
    *,
    rerun_stale: bool = False,
) -> Plan:
    """Decide for every trial behind the tasks. Reads records, never data.

    What is overridden is said by the store's workspace.

    Raises UsageError if an override names a parameter that none has.
    """
    overrides = store.workspace.overrides
    check_overrides(tasks, overrides)
    experiments = dict.fromkeys(experiment for task in tasks for experiment in task.reads)
    trials = [trial for each in experiments for trial in grid_of(each, profile, overrides)]
    plan = plan_trials(trials, profile, store, limits, rerun_stale=rerun_stale)
    return replace(plan, tasks=tasks)


def plan_trials(
    trials: Iterable[Trial],
    profile: Profile,
    store: RecordStore,
    limits: MachineLimits,
    *,
    rerun_stale: bool = False,
) -> Plan:
    """Decide for some trials and those that they start from; otherwise as `make_plan`."""
    plan = Plan((), profile, store.workspace.overrides, limits.gpu_bytes)
    planner = _Planner(plan, store, limits, rerun_stale)
    for trial in trials:
        planner.add(trial)
    return planner.plan


class Costs:
    """What trials take: what is declared, scaled by how long recorded ones of their kind took."""

    def __init__(self, store: RecordStore, profile: Profile) -> None:
        self._store, self._profile = store, profile
        self._pace = cache(self._pace_of)

    def estimate(self, trial: Trial, record: Record | Rejected | None) -> Estimate:
        """Return what a trial takes; its own record tells it best."""
        told = declared(trial)
        if isinstance(record, Record) and record.is_result:
            return replace(told, seconds=record.provenance.wall_s)
        return replace(told, seconds=told.seconds * self._pace(trial.experiment))

    def _pace_of(self, experiment: Experiment) -> float:
        """Return how long recorded trials took beside what was declared; 1 without any."""
        grid = grid_of(experiment, self._profile)
        found = [(trial, record) for trial in grid if (record := self._store.result(trial))]
        declared_s = fsum(declared(trial).seconds for trial, _ in found)
        took_s = fsum(record.provenance.wall_s for _, record in found)
        return took_s / declared_s if declared_s else 1.0


def memory_of(trial: Trial) -> int:
    """Return the main memory that a trial needs, or is expected to take."""
    return max(trial.needs.memory_bytes, declared(trial).memory_bytes)


def declared(trial: Trial) -> Estimate:
    """Return what an experiment says of a trial; nothing where it says nothing."""
    return trial.experiment.estimate_of(trial.params) or Estimate(seconds=0.0)


class _Planner:
    """Fills a plan, upstream first."""

    def __init__(
        self, plan: Plan, store: RecordStore, limits: MachineLimits, rerun_stale: bool
    ) -> None:
        self.plan, self.store, self.rerun_stale = plan, store, rerun_stale
        self.costs = Costs(store, plan.profile)
        self.code = cache(experiment_code)
        self.lack = cache(lambda needs: lacking(needs, limits))

    def add(self, trial: Trial) -> PlannedTrial:
        if found := self.plan.items.get(trial.key):
            return found
        record = self.store.read(trial)
        stale = isinstance(record, Record) and record.provenance.code != self.code(trial.experiment)
        action, reason = self._decide(trial, record, stale)
        self.plan.items[trial.key] = item = PlannedTrial(
            trial=trial, action=action, reason=reason, stale=stale,
            estimate=self.costs.estimate(trial, record),
        )  # fmt: skip
        return item

    def _decide(
        self, trial: Trial, record: Record | Rejected | None, stale: bool
    ) -> tuple[Action, str]:
        is_result = isinstance(record, Record) and record.is_result
        lack = self.lack(trial.needs)
        # What nothing here can use need not be run for it.
        upstream = () if lack and not is_result else [self.add(each) for each in trial.upstream]
        if isinstance(record, Record) and is_result and not (stale and self.rerun_stale):
            return Action.REUSE, STALE if stale else record.status
        blocked = [item.reason for item in upstream if item.action is Action.BLOCKED]
        if lack := lack or next(iter(blocked), "") or self._refresh_upstream(trial):
            return Action.BLOCKED, lack
        return Action.RUN, _why_run(record, stale)

    def _refresh_upstream(self, trial: Trial) -> str:
        """Turn a reused upstream trial into one to run where its artifacts cannot be used.

        Returns why it cannot be run here, or an empty string.
        """
        for source in trial.upstream:
            item, record = self.plan.items[source.key], self.store.result(source)
            if item.action is not Action.REUSE or record is None:
                continue
            if damage := self.store.artifacts_intact(source, record):
                if lack := self.lack(source.needs) or self._refresh_upstream(source):
                    return f"needs {source.name}, but {damage}, and it {lack}"
                self.plan.items[source.key] = replace(item, action=Action.RUN, reason=damage)
        return ""


def _why_run(record: Record | Rejected | None, stale: bool) -> str:
    if record is None:
        return "no record yet"
    if isinstance(record, Rejected):
        return record.reason
    if stale and record.is_result:
        return "its code changed since its record"
    if record.status == Status.SKIPPED:
        return f"skipped before: {record.note}"
    return f"failed before: {record.error.splitlines()[-1] if record.error else record.note}"
