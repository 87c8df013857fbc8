"""A step of a sweep of learning rates, its nets stacked or one by one, with kernels and without."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, get_args

from harness.declare import Estimate, Experiment, Needs, Profile, doc, seeds_of
from harness.declare.experiment import Device
from reproductions.supar.models.costs import estimate_of, needs_of
from reproductions.supar.models.gpt_experiment import stands_in_of
from reproductions.supar.models.points import SMALL, FixedPoint, started
from reproductions.supar.sweeps.experiment import RATE_NETS

How = Literal["stacked", "one by one"]
WAYS: tuple[tuple[How, bool], ...] = tuple(itertools.product(get_args(How), (True, False)))
"""How nets are trained, and whether by kernels; in the order in which they take turns."""


class SweepStep(FixedPoint):
    """Steps of several nets at rates a factor of 2 apart, `steps` of them timed."""

    num_members: int = doc("Nets, each with a learning rate and a start of its own.")
    num_warmup: int = doc("Steps before those that are timed, beside the first one.")

    @property
    def rates(self) -> list[float]:
        """Return the members' base learning rates; `lr` is in their middle."""
        return [self.lr * 2.0 ** (k - self.num_members // 2) for k in range(self.num_members)]


def small_sweep(device: Device) -> SweepStep:
    """Return two rates of a small net."""
    net = replace(SMALL, device=device, width=32, num_layers=1, steps=2, warmup_steps=0)
    return started(SweepStep, net, "supar", 1 / 4, 0, num_members=2, num_warmup=0)


def grid(profile: Profile) -> Iterator[SweepStep]:
    """Yield the net of the sweep at `gpu` with eight rates, and at `smoke` a small one with two."""
    for number in seeds_of(profile):
        if profile == "smoke":
            yield replace(small_sweep("cpu"), seed=number)
        elif profile == "gpu":
            net = replace(RATE_NETS["gpu"], steps=20, warmup_steps=0)
            yield started(SweepStep, net, "supar", 1 / 8, number, num_members=8, num_warmup=5)


def needs(params: SweepStep) -> Needs:
    """Return data and device, with room for all members in all ways."""
    own = needs_of(params)
    packages = (*own.packages, "triton") if params.device == "cuda" else own.packages
    room = len(WAYS) * params.num_members * own.gpu_bytes
    return replace(own, gpu_bytes=room, packages=packages, exclusive=True)


def estimate(params: SweepStep) -> Estimate:
    """Return a start, and the steps of all nets in all ways."""
    rounds = params.steps + params.num_warmup + 2
    one = estimate_of(replace(params, steps=rounds))
    return Estimate(
        seconds=1.0 + params.num_members * len(WAYS) * one.seconds,
        memory_bytes=params.num_members * one.memory_bytes,
    )


sweep_steps = Experiment(
    "supar/sweep_step",
    version=1,
    params=SweepStep,
    grid=grid,
    run="trial:step_rows",
    needs=needs,
    estimate=estimate,
    dry_run=".models.gpt_trial:dry_run",
    address=("density", "num_members", "seed"),
    stands_in=stands_in_of(grid),
)
