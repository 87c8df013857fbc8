"""From inputs to what every strategy holds and sends, and to computation times behind a gain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from math import log10
from typing import get_args

from harness.declare import Row, RunContext
from reproductions.paro.method.cluster import Nic
from reproductions.paro.method.guideline import Prediction, ranked
from reproductions.paro.method.peers import predicted
from reproductions.paro.method.step_time import Assembly, TimeModel, World, step_time
from reproductions.paro.predictions.experiment import (
    CANDIDATES,
    QUOTED,
    STRATEGIES,
    Gain,
    Inputs,
    Question,
    Setting,
    settings_of,
)

WORLDS: tuple[World, ...] = ("flat", "hier")
ASSEMBLIES: tuple[Assembly, ...] = ("max", "sum")
GB = 1e9
ZERO = {"NNG": "gain_over_zero1", "NGG": "gain_over_zero2", "GGG": "gain_over_zero3"}
"""Baseline -> its column, in percent."""


def predicted_rows(question: Question, ctx: RunContext) -> list[Row]:
    """Predict a step of every setting by every strategy."""
    return [
        row
        for setting, names in settings_of(question.about)
        for nic in get_args(Nic)
        for world in WORLDS
        for row in _rows_of(replace(setting, nic=nic), question, names, world)
    ]


def _rows_of(
    setting: Setting, inputs: Inputs, names: tuple[str, ...], world: World
) -> Iterator[Row]:
    found = predictions_of(names, setting, inputs, world)
    first = ranked([found[name] for name in CANDIDATES if name in found])
    for name, one in found.items():
        comm, rank = one.time.comm, first.index(one) + 1 if one in first else None
        samples = setting.num_gpus * setting.micro_batch * setting.accumulation
        yield {
            **asdict(setting),
            "world": world,
            "strategy": name,
            **{f"{term}_s": seconds for term, seconds in one.time.terms.items()},
            "comm_s": comm,
            "memory_bytes": one.memory.total,
            "fits": one.fits,
            "steps_per_s": one.steps_per_s if one.fits else None,
            "log10_steps_per_s": log10(one.steps_per_s) if one.fits else None,
            "samples_per_s_at_most": samples / comm,
            "rank": rank if name in CANDIDATES else None,
            **_gains(one, found),
        }


def _gains(one: Prediction, found: Mapping[str, Prediction]) -> dict[str, float | None]:
    """Return the gain over each baseline in percent; None where either does not fit."""
    gains: dict[str, float | None] = {}
    for name, column in ZERO.items():
        base = found.get(name)
        both = base is not None and base.fits and one.fits and base is not one
        gains[column] = 100 * (base.time.comm / one.time.comm - 1) if base and both else None
    return gains


def predictions_of(
    names: Sequence[str], setting: Setting, inputs: Inputs, world: World
) -> dict[str, Prediction]:
    """Predict a step by strategies and baselines, by communication alone."""
    found = predicted(
        [STRATEGIES[name] for name in names],
        setting.workload,
        inputs.cluster(setting.num_gpus, setting.nic),
        TimeModel(world=world),
        memory_bytes=inputs.memory_gb * GB,
    )
    return dict(zip(names, found, strict=True))


def compute_rows(inputs: Inputs, ctx: RunContext) -> list[Row]:
    """Find for each quoted gain the computation time that gives it, by either reading."""
    return [
        _compute_row(gain, inputs, reading, wanted, world, assembly)
        for gain in QUOTED
        for reading, wanted in (("more", 1 + gain.percent / 100), ("times", gain.percent / 100))
        for world in WORLDS
        for assembly in ASSEMBLIES
    ]


def _compute_row(
    gain: Gain, inputs: Inputs, reading: str, wanted: float, world: World, assembly: Assembly
) -> Row:
    setting = Setting(model=gain.model, trainable=gain.trainable)

    def total(name: str, compute_s: float) -> float:
        cluster = inputs.cluster(setting.num_gpus)
        model = TimeModel(world=world, assembly=assembly)
        strategy = STRATEGIES[name].strategy
        return step_time(strategy, setting.workload, cluster, model, compute_s=compute_s).total

    # Without computation both assemblies are communication alone.
    one, base = total(gain.strategy, 0.0), total(gain.baseline, 0.0)
    compute = compute_for(wanted, one, base, assembly)
    of_gain = asdict(gain)
    return {
        "quoted_percent": of_gain.pop("percent"),
        **of_gain,
        "reading": reading,
        "world": world,
        "assembly": assembly,
        "quoted_ratio": wanted,
        "comm_ratio": base / one,
        "compute_s": compute,
        "ratio_at_compute": None
        if compute is None
        else total(gain.baseline, compute) / total(gain.strategy, compute),
    }


def compute_for(wanted: float, one: float, base: float, assembly: Assembly) -> float | None:
    """Return the seconds of computation at which a speed over a baseline's is as wanted.

    one, base: seconds of communication. None where no time does.
    """
    if not 1.0 < wanted <= base / one:
        return None
    # Under max the baseline waits for its communication, the other for computation.
    return base / wanted if assembly == "max" else (base - wanted * one) / (wanted - 1)
