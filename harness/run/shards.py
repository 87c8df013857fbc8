"""Cuts what is to run into shards, which jobs of an array run without knowing of each other."""

from __future__ import annotations

import logging
import re
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, fsum

from harness.errors import UsageError
from harness.run.plan import Action, Plan, PlannedTrial, declared
from harness.store.store import RecordStore
from harness.store.trial import Trial, each_with_upstream

log = logging.getLogger(__name__)

LOOK_S = 2.0
MOST_SHARDS = 10_000
SPARE_BYTES = 2**30
"""Beside what the largest trial needs."""
SPARE_TIME, LEAST_TIME_S = 2.0, 1800.0
"""How much more time a job asks for than its trials are declared to take; and at least."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One of some shards, counted from 1."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def parse_shard(text: str) -> Shard:
    """Return a shard from `3/16`. Raises UsageError for what is none."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    shard = Shard(*map(int, found.groups())) if found else Shard(0, 0)
    if not 1 <= shard.number <= shard.count <= MOST_SHARDS:
        raise UsageError(f"--shard {text[:20]}: write NUMBER/COUNT, such as 3/16")
    return shard


def cut(plan: Plan, count: int) -> dict[str, int]:
    """Return by key the number of the shard that a trial lies in, the same on every machine.

    What starts from a trial lies beside it, unless together they take more than a shard's fair
    part. The dearest are dealt first, each to the shard that has least; of equals the one whose
    key, a SHA-256, is smaller.
    """
    # A plan leaves out what a trial starts from that cannot run here.
    trials = each_with_upstream(item.trial for item in plan.items.values())
    # Where nothing is declared, one is like another.
    cost = {trial.key: declared(trial).seconds or 1.0 for trial in trials}
    fair = fsum(cost.values()) / count
    groups = [
        part
        for group in _connected(trials)
        for part in ([group] if fsum(cost[key] for key in group) <= fair else [[k] for k in group])
    ]
    loads, number_of = [0.0] * count, dict[str, int]()
    for group in sorted(groups, key=lambda keys: (-fsum(cost[key] for key in keys), min(keys))):
        least = loads.index(min(loads))
        loads[least] += fsum(cost[key] for key in group)
        number_of |= dict.fromkeys(group, least + 1)
    return number_of


def _connected(trials: Sequence[Trial]) -> list[list[str]]:
    """Return the keys of trials in groups, none of which starts from a trial of another."""
    group_of: dict[str, list[str]] = {}
    for trial in trials:
        group = group_of.setdefault(trial.key, [trial.key])
        for source in trial.upstream:
            other = group_of.setdefault(source.key, [source.key])
            if other is not group:
                other += group
                group_of |= dict.fromkeys(group, other)
                group = other
    return list({id(group): group for group in group_of.values()}.values())


def in_shard(plan: Plan, shard: Shard) -> Plan:
    """Return a plan of one shard's trials, which await those that another shard runs first."""
    number_of = cut(plan, shard.count)
    own = {key for key in plan.items if number_of[key] == shard.number}
    needed = {source.key for key in own for source in plan.items[key].trial.upstream} - own

    def as_awaited(item: PlannedTrial) -> PlannedTrial:
        where = Shard(number_of[item.trial.key], shard.count)
        return replace(item, action=Action.AWAITED, reason=f"shard {where}")

    items = {
        key: as_awaited(item) if key in needed and item.action is Action.RUN else item
        for key, item in plan.items.items()
        if key in own | needed
    }
    return replace(plan, items=items)


class Awaited:
    """Trials of other shards that a plan's own start from, as long as they are not here."""

    def __init__(self, plan: Plan, store: RecordStore) -> None:
        self._store = store
        self._left = {item.trial.key: item for item in plan.with_action(Action.AWAITED)}
        self._next_look = 0.0
        self._is_told = False

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def look(self) -> None:
        """Take note of those that have come, every so often; say once which shards are awaited."""
        if not self._left or time.monotonic() < self._next_look:
            return
        for key, item in list(self._left.items()):
            record = self._store.result(item.trial)
            if record and not self._store.artifacts_intact(item.trial, record):
                del self._left[key]
        if self._left and not self._is_told:
            where = " and ".join(sorted({item.reason for item in self._left.values()}))
            log.warning("%d trials to start from are awaited of %s", len(self._left), where)
            self._is_told = True
        self._next_look = time.monotonic() + LOOK_S


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """What one shard has to do."""

    shard: str
    trials: int
    to_run: int
    core_s: float
    """Declared for all its trials."""


def parts_of(plan: Plan, count: int) -> list[Part]:
    """Return what each shard of a plan has to do, and how much of it has no result yet."""
    number_of = cut(plan, count)
    found = []
    for number in range(1, count + 1):
        own = [item for key, item in plan.items.items() if number_of[key] == number]
        left = sum(item.action is not Action.REUSE for item in own)
        core_s = fsum(declared(item.trial).seconds for item in own)
        shard = str(Shard(number, count))
        found.append(Part(shard=shard, trials=len(own), to_run=left, core_s=core_s))
    return found


def slurm_script(plan: Plan, count: int, words: str) -> str:
    """Return a script for sbatch: an array with a job for each shard; words: as `repro run` takes.

    Memory, GPU and time are the most that any shard asks for.
    """
    needs = [item.trial.needs for item in plan.items.values()]
    memory = max((each.memory_bytes for each in needs), default=0) + SPARE_BYTES
    longest_s = max(part.core_s for part in parts_of(plan, count))
    minutes = ceil(max(SPARE_TIME * longest_s, LEAST_TIME_S) / 60)
    asked = {
        "job-name": "repro", "array": f"1-{count}", "cpus-per-task": "1",
        "mem": f"{ceil(memory / 2**20)}M", "time": str(minutes),
    } | ({"gpus": "1"} if any(each.device == "cuda" for each in needs) else {})  # fmt: skip
    lines = [f"#SBATCH --{name}={shlex.quote(value)}" for name, value in asked.items()]
    return "\n".join(
        [
            "#!/bin/bash", *lines, "set -euo pipefail", "export OMP_WAIT_POLICY=passive",
            f'repro run {words} --jobs 1 --shard "$SLURM_ARRAY_TASK_ID/{count}"', "",
        ]
    )  # fmt: skip
