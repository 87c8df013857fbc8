"""A plan: strategies on a cluster, ranked, with all that a reader needs to check it by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from harness.errors import SpecError
from reproductions.paro.method.cluster import Cluster, Workload
from reproductions.paro.method.guideline import Prediction, costs, unbeaten
from reproductions.paro.method.peers import (
    BESIDE,
    SETTINGS,
    USUAL,
    Setting,
    alike,
    own,
    predicted,
    setting_of,
)
from reproductions.paro.method.schedule import schedule
from reproductions.paro.method.step_time import FLAT, TimeModel
from reproductions.paro.method.strategy import EFFECTIVE
from reproductions.paro.method.traffic import Traffic, step_traffic


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A candidate of a plan."""

    setting: Setting
    found: Prediction
    traffic: Traffic
    is_front: bool
    """Whether none of the plan takes less time without more memory, or the other way round."""

    @property
    def name(self) -> str:
        """The letters, or what a system's setting is called."""
        return self.setting.name

    @property
    def total(self) -> float:
        """T."""
        return self.found.time.total

    @property
    def head(self) -> str:
        """The name, with what is split otherwise between the passes: `hpz (GGG+I)`."""
        strategy = self.setting.strategy
        beside = strategy.between or self.setting.keeps_part
        kept = f"+{beside}" if beside else ""
        known = self.name == strategy.letters
        every = ", every" if self.setting.sync_every_micro_batch else ""
        return self.name if known else f"{self.name} ({strategy.letters}{kept}{every})"

    @property
    def title(self) -> str:
        """What it is called in a figure: a strategy with its usual name, a system's by its own."""
        usual = USUAL.get(self.name, "")
        return self.setting.label or (f"{self.name} ({usual})" if usual else self.name)

    @property
    def same(self) -> list[Setting]:
        """Settings that do just what it does; those first that differ in nothing else either."""
        found = alike(self.setting, one_micro_batch=self.found.time.accumulation == 1)
        return sorted(found, key=lambda each: (each != self.setting, not each.is_exact))

    @property
    def systems(self) -> str:
        """Who has it, just so."""
        return ", ".join(dict.fromkeys(each.label for each in self.same))

    @property
    def nearly(self) -> str:
        """Who has a strategy's letters, and holds or sends more beside."""
        if self.setting.label:
            return ""
        found = [each for each in SETTINGS if each.strategy == self.setting.strategy]
        return ", ".join(dict.fromkeys(each.label for each in found if each not in self.same))


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Candidates with what they take: those that fit from the least time on, then the others."""

    cluster: Cluster
    workload: Workload
    model: TimeModel
    memory_bytes: float
    """What a GPU has for the three states."""
    compute_s: float
    entries: tuple[Entry, ...]

    @property
    def fitting(self) -> list[Entry]:
        return [each for each in self.entries if each.found.fits]

    def rows(self) -> list[dict[str, Any]]:
        """Return candidates as plain values, in order."""
        return [row_of(place, each) for place, each in enumerate(self.entries, 1)]


def make_plan(
    workload: Workload,
    cluster: Cluster,
    model: TimeModel = FLAT,
    *,
    memory_bytes: float = inf,
    compute_s: float = 0.0,
    candidates: Sequence[Setting] = (),
) -> Plan:
    """Return candidates in their order, the 14 and the paper's baselines by default.

    compute_s: t_comp, seconds of all forward and backward passes of an optimizer step.
    Raises SpecError where one is named twice, and where a number is absurd.
    """
    by_default = [*(own(each.letters) for each in EFFECTIVE), *map(setting_of, BESIDE)]
    asked = list(candidates) or by_default
    if len({each.name for each in asked}) < len(asked):
        raise SpecError("a strategy is named twice: name each once")
    found = predicted(
        asked, workload, cluster, model, memory_bytes=memory_bytes, compute_s=compute_s
    )
    is_front = unbeaten([costs(each) for each in found])
    entries = [
        Entry(
            setting=setting,
            found=each,
            traffic=traffic_of(setting, workload, cluster, model),
            is_front=on_it,
        )
        for setting, each, on_it in zip(asked, found, is_front, strict=True)
    ]
    entries.sort(key=lambda entry: (not entry.found.fits, costs(entry.found)))
    plan = Plan(
        cluster=cluster, workload=workload, model=model, memory_bytes=memory_bytes,
        compute_s=compute_s, entries=tuple(entries),
    )  # fmt: skip
    check_sizes(plan)
    return plan


LARGEST = 1e24
"""Bytes, seconds or steps per second: there are no more, nor, where there are any, less than one
part in so many. A float has both, but what is worked out of them on the way it may not."""


def check_sizes(plan: Plan) -> None:
    """Raise SpecError where a number of a plan is none that there can be."""
    for row in plan.rows():
        values = [*row["terms_s"].values(), *row.values()]
        numbers = [value for value in values if isinstance(value, float)]
        # Not a number is in no range.
        if not all(value == 0.0 or 1.0 / LARGEST <= value <= LARGEST for value in numbers):
            raise SpecError(
                f"what {row['name']} holds, sends or takes is no number that there can be: need"
                " sizes and bandwidths that are neither vast nor next to nothing"
            )


def traffic_of(setting: Setting, workload: Workload, cluster: Cluster, model: TimeModel) -> Traffic:
    """Return what a setting sends per optimizer step."""
    steps = schedule(setting.strategy, sync_every_micro_batch=setting.sync_every_micro_batch)
    return step_traffic(steps, setting.trains(workload), cluster, model.world)


def row_of(place: int, entry: Entry) -> dict[str, Any]:
    """Return a candidate as plain values; ranks are of those that fit."""
    memory, time = entry.found.memory, entry.found.time
    return {
        "rank": place if entry.found.fits else None,
        "name": entry.name,
        "strategy": str(entry.setting.strategy),
        "usual": entry.setting.label or USUAL.get(entry.name, ""),
        "systems": entry.systems,
        "nearly": entry.nearly,
        "every": entry.setting.sync_every_micro_batch,
        "keeps": entry.setting.keeps_part,
        "params_bytes": memory.params,
        "second_params_bytes": memory.second_params,
        "grads_bytes": memory.grads,
        "states_bytes": memory.states,
        "total_bytes": memory.total,
        "step_s": entry.total,
        "steps_per_s": entry.found.steps_per_s if entry.total else None,
        "comm_s": time.comm,
        "terms_s": dict(time.terms),
        "between_bytes": entry.traffic.between,
        "within_bytes": entry.traffic.within,
        "fits": entry.found.fits,
        "front": entry.is_front,
    }
