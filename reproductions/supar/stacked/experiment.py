"""A step of a sweep of learning rates, its nets stacked or one by one, with kernels and without."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, get_args

from harness.declare import Estimate, Experiment, Needs, Profile, doc, seeds_of
from harness.declare.experiment import Device
from reproductions.supar.models.costs import estimate_of, memory_bytes, needs_of, num_matrix_params
from reproductions.supar.models.gpt_experiment import stands_in_of
from reproductions.supar.models.points import SMALL, FixedPoint, Net, started
from reproductions.supar.sweeps.experiment import RATE_NETS

How = Literal["stacked", "one by one"]
WAYS: tuple[tuple[How, bool], ...] = tuple(itertools.product(get_args(How), (True, False)))
"""How nets are trained, and whether by kernels; in the order in which they take turns."""
PER_WEIGHT = 5
"""Numbers per weight: itself, gradient, two moments, and of a stack the net that it came from."""


class SweepStep(FixedPoint):
    """Steps of several nets at rates a factor of 2 apart, `steps` of them timed."""

    num_members: int = doc("Nets, each with a learning rate and a start of its own.")
    num_warmup: int = doc("Steps before those that are timed, beside the first one.")

    @property
    def rates(self) -> list[float]:
        """Return the members' base learning rates; `lr` is in their middle."""
        return [self.lr * 2.0 ** (k - self.num_members // 2) for k in range(self.num_members)]


def step_of(net: Net, *, density: float, members: int, warmup: int, seed: int) -> SweepStep:
    """Return a point of the sweep of SmuPar's learning rate, at one density."""
    return started(SweepStep, net, "supar", density, seed, num_members=members, num_warmup=warmup)


def small_sweep(device: Device) -> SweepStep:
    """Return two rates of a small net."""
    net = replace(SMALL, device=device, width=32, num_layers=1, steps=2, warmup_steps=0)
    return step_of(net, density=1 / 4, members=2, warmup=0, seed=0)


def grid(profile: Profile) -> Iterator[SweepStep]:
    """Yield the net of the sweep at `gpu` with eight rates, and at `smoke` a small one with two."""
    for number in seeds_of(profile):
        if profile == "smoke":
            yield replace(small_sweep("cpu"), seed=number)
        elif profile == "gpu":
            net = replace(RATE_NETS["gpu"], steps=20, warmup_steps=0)
            yield step_of(net, density=1 / 8, members=8, warmup=5, seed=number)


def needs(params: SweepStep) -> Needs:
    """Return data and device, with room for all members in all ways, and a step of a stack."""
    own = needs_of(params)
    if params.device == "cpu":
        return replace(own, exclusive=True)
    held = 4 * len(WAYS) * PER_WEIGHT * num_matrix_params(params)
    room = params.num_members * (held + memory_bytes(params)) + 2**30
    return replace(own, gpu_bytes=room, packages=(*own.packages, "triton"), exclusive=True)


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
