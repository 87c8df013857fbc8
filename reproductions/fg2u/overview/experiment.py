"""What each method can do, and how long an estimate takes, also in chunks and in processes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, get_args

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc, seed, seeds_of

LR, MOMENTUM = 0.05, 0.9
START_S = 8.0
"""Imports, in a process and then in two others."""


class Timing(Params):
    """Estimates of all methods on one problem, in turn."""

    net: Literal["mlp-2", "convnet-16"] = doc("Net that phi's images train.")
    depth: int = doc("Inner steps T.")
    inner_batch: int = doc("Images of phi, all in each inner step.")
    outer_batch: int = doc("Real images that judge.")
    num_directions: int = doc("Directions per estimate, b.")
    keep: int = doc("Last steps that TRGU walks back.")
    num_warmup: int = doc("Rounds before those that are timed.")
    num_timed: int = doc("Rounds that are timed.")
    max_workers: Literal[1, 2] = doc(
        "2: fresh processes that share the directions, beside one of them alone; 1: the trial's"
        " own process."
    )
    seed: int = seed("One pair of processes.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Timed:
    """A method that is timed."""

    method: str
    """`plain` for the unroll without a derivative."""
    chunk: int = 0
    workers: int = 1


def timed_of(timing: Timing) -> list[Timed]:
    """Return what is timed, in the order in which it takes turns."""
    names = ("plain", "hessian-free", "trgu", "rgu", "rgu-mixflow")
    found = [Timed(method=name) for name in names]
    chunk = 1
    while chunk <= timing.num_directions:
        for workers in range(1, timing.max_workers + 1):
            # More at a time than a process has directions is nothing new.
            if chunk * workers <= timing.num_directions:
                found.append(Timed(method="fg2u", chunk=chunk, workers=workers))
        chunk *= 2
    return found


def grid(profile: Profile) -> Iterator[Timing]:
    """Yield the small ConvNet on digits, the released code's five outer images per inner one."""
    match profile:
        case "smoke":
            yield Timing(
                net="mlp-2", depth=2, inner_batch=10, outer_batch=50, num_directions=4, keep=1,
                num_warmup=0, num_timed=2, max_workers=2, seed=0,
            )  # fmt: skip
        case "cpu":
            first = Timing(
                net="convnet-16", depth=8, inner_batch=50, outer_batch=250, num_directions=16,
                keep=5, num_warmup=1, num_timed=3, max_workers=2, seed=0,
            )  # fmt: skip
            yield from (replace(first, seed=number) for number in seeds_of(profile))


def estimate(timing: Timing) -> Estimate:
    """Return a start, and what the rounds take."""
    step_s = 0.002 if timing.net == "mlp-2" else 0.03
    rounds = timing.num_warmup + timing.num_timed
    directions = 3 * timing.num_directions
    return Estimate(
        seconds=START_S + step_s * timing.depth * directions * rounds, memory_bytes=3 * 2**30
    )


def stands_in(timing: Timing) -> dict[str, str]:
    """Return what was timed in the place of the data of the paper's panel of times."""
    return {"CIFAR-100": "digits of 8 x 8"}


timings = Experiment(
    "fg2u/step_time",
    version=1,
    params=Timing,
    grid=grid,
    run="trial:time_rows",
    needs=Needs(data=("digits",), memory_bytes=3 * 2**30, exclusive=True),
    estimate=estimate,
    address=("net", "depth", "seed"),
    stands_in=stands_in,
)


Method = Literal["rgu", "rgu-mixflow", "neumann", "trgu", "hessian-free", "fg2u"]


class Capability(Params):
    """A method on one problem, at two depths."""

    method: Method = doc("How the hypergradient is estimated.")
    depth: int = doc("Inner steps of the short unroll.", default=8)
    long_depth: int = doc("Inner steps of the long one.", default=64)
    kept_steps: int = doc("Last steps that TRGU differentiates.", default=4)
    terms: int = doc("Terms of Neumann's series beyond the first.", default=5)
    hidden: int = doc("Hidden units of the net.", default=32)


def capability_grid(profile: Profile) -> Iterator[Capability]:
    """Yield every method; what they can do does not depend on the scale."""
    if profile in ("smoke", "cpu"):
        for method in get_args(Method):
            yield Capability(method=method)


capabilities = Experiment(
    "fg2u/capabilities",
    version=1,
    params=Capability,
    grid=capability_grid,
    run="capability:capability_row",
    seed_from=(),
    needs=Needs(data=("digits",)),
    estimate=lambda point: Estimate(seconds=0.4, memory_bytes=2**30),
    address=("method",),
)
