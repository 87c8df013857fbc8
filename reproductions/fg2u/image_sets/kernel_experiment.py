"""An outer step of data condensation with the kernels of (FG)2U and in plain torch, in turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, NamedTuple

from harness.declare import Estimate, Experiment, Needs, Profile, Scalar, doc
from reproductions.fg2u.image_sets import experiment as condensing
from reproductions.fg2u.image_sets.cells import cells_of
from reproductions.fg2u.image_sets.experiment import (
    START_S,
    estimate_s,
    one_phase,
    seeds_for,
    stands_in,
)
from reproductions.fg2u.image_sets.params import Condensation


class Taken(NamedTuple):
    """How a step is taken."""

    estimator: Literal["forward", "adjoint"]
    """adjoint: the outer loss is walked back through, as Table 1's runs do; its inner steps are
    torch.func's. forward: all of it is carried forward, inner steps by a kernel where one is."""
    directions: Literal["philox", "rademacher"]
    """philox: from a counter, summed again by a kernel where one is; rademacher: drawn on the CPU,
    the default."""
    kernels: bool


TAKEN = (
    Taken("forward", "philox", True),
    Taken("forward", "philox", False),
    Taken("forward", "rademacher", True),
    Taken("forward", "rademacher", False),
    Taken("adjoint", "philox", True),
    Taken("adjoint", "philox", False),
    Taken("adjoint", "rademacher", False),
)
"""In the order in which they take turns; no kernel is for the last one's estimator."""
PATH = {"depth": 1, "num_directions": 2}
"""At `smoke`, where a step is the calls of small operations, whatever it computes."""


class KernelStep(Condensation):
    """Outer steps from noise, `steps` of them timed."""

    num_warmup: int = doc("Outer steps before those that are timed, beside the first one.")


def step_of(profile: Profile, seed: int, **own: Scalar) -> KernelStep:
    """Return outer steps on a profile's first cell; no net is evaluated."""
    point = one_phase(cells_of(profile)[0], "fg2u", seed=seed)
    return KernelStep.from_json(point.to_json() | {"num_nets": 0, "test_steps": 0} | own)


def grid(profile: Profile) -> Iterator[KernelStep]:
    """Yield the first cell of `gpu`, and of `smoke`."""
    steps: dict[Profile, dict[str, Scalar]] = {
        "smoke": {"steps": 2, "num_warmup": 0, **PATH},
        "gpu": {"steps": 10, "num_warmup": 1},
    }
    if profile in steps:
        for number in seeds_for(cells_of(profile)[0], profile):
            yield step_of(profile, number, **steps[profile])


def needs(params: KernelStep) -> Needs:
    """Return data, device and room, as for a set of images; nothing else may run."""
    packages = ("triton",) if params.device == "cuda" else ()
    return replace(condensing.needs(params), packages=packages, exclusive=True)


def estimate(params: KernelStep) -> Estimate:
    """Return a start, and the steps of all ways."""
    rounds = params.num_warmup + params.steps + 2
    seconds = START_S + len(TAKEN) * rounds * estimate_s(params)
    return Estimate(seconds=seconds, memory_bytes=2**31)


kernel_steps = Experiment(
    "fg2u/kernel_step",
    version=1,
    params=KernelStep,
    grid=grid,
    run="kernel_trial:step_rows",
    needs=needs,
    estimate=estimate,
    dry_run="dry:dry_run",
    address=("dataset", "ipc", "seed"),
    stands_in=stands_in,
)
