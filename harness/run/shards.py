"""Cuts what is to run into shards, which jobs of an array run without knowing of each other."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, fsum

from harness.errors import UsageError
from harness.run.plan import Action, Plan, declared, memory_of
from harness.store.trial import Trial, each_with_upstream

MOST_SHARDS = 10_000
SPARE_BYTES, CUDA_BYTES = 2**30, 2**33
"""Beside what the largest trial needs; and what the libraries of CUDA may take in main memory."""
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
    trials = _all_of(plan)
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
    """Return a plan of one shard's trials, and of those that they start from.

    What lies in another shard is run by whichever comes first, as its lock says; the others wait.
    """
    number_of = cut(plan, shard.count)
    own = [item.trial for key, item in plan.items.items() if number_of[key] == shard.number]
    kept = {trial.key for trial in each_with_upstream(own)}
    return replace(plan, items={key: item for key, item in plan.items.items() if key in kept})


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
    costs = {trial.key: declared(trial).seconds for trial in _all_of(plan)}
    open_ones = {item.trial.key for item in plan.items.values() if item.action is not Action.REUSE}
    parts = []
    for number in range(1, count + 1):
        own = [key for key in costs if number_of[key] == number]
        core_s = fsum(costs[key] for key in own)
        shard, left = str(Shard(number, count)), len(open_ones.intersection(own))
        parts.append(Part(shard=shard, trials=len(own), to_run=left, core_s=core_s))
    return parts


def _all_of(plan: Plan) -> list[Trial]:
    """Return the trials of a plan with what they start from; it leaves out what cannot run here."""
    return each_with_upstream(item.trial for item in plan.items.values())


def slurm_script(plan: Plan, count: int, words: str) -> str:
    """Return a script for sbatch: an array with a job for each shard; words: as `repro run` takes.

    Memory, GPU and time are the most that any shard asks for.
    """
    trials = _all_of(plan)
    has_cuda = any(trial.needs.device == "cuda" for trial in trials)
    memory = max((memory_of(trial) for trial in trials), default=0) + SPARE_BYTES
    memory += CUDA_BYTES if has_cuda else 0
    longest_s = max(part.core_s for part in parts_of(plan, count))
    # What it starts from may have to be run, or awaited, first.
    longest_s += max((_upstream_s(trial) for trial in trials), default=0.0)
    minutes = ceil(max(SPARE_TIME * longest_s, LEAST_TIME_S) / 60)
    asked = {
        "job-name": "repro", "array": f"1-{count}", "cpus-per-task": "1",
        "mem": f"{ceil(memory / 2**20)}M", "time": str(minutes),
    }  # fmt: skip
    lines = [f"#SBATCH --{name}={shlex.quote(value)}" for name, value in asked.items()]
    if has_cuda:
        lines.append("#SBATCH --gpus=1")
    if any(trial.needs.exclusive for trial in trials):
        lines.append("#SBATCH --exclusive")
    run = f'repro run {words} --jobs 1 --shard "$SLURM_ARRAY_TASK_ID/{count}"'
    return "\n".join(["#!/bin/bash", *lines, "set -euo pipefail", run, ""])


def _upstream_s(trial: Trial) -> float:
    return fsum(declared(source).seconds + _upstream_s(source) for source in trial.upstream)
