"""Condensing digits to one image per class, by a method or by two phases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from harness.declare import (
    PILOT_SEEDS,
    Estimate,
    Experiment,
    Needs,
    Params,
    Profile,
    doc,
    seed,
    seeds_of,
)

if TYPE_CHECKING:
    from reproductions.fg2u import Estimator, Phase

Method = Literal["rgu", "trgu", "neumann", "hessian-free", "fg2u"]
Second = Literal["none", "rgu", "trgu", "neumann", "hessian-free", "fg2u"]

DEPTHS = {"smoke": 5, "cpu": 30}
HALVES = {"smoke": 2, "cpu": 160}
"""Outer steps of a phase; one phase alone takes twice as many."""
NUM_DIRECTIONS = 32
"""The paper's b."""
FEWER, MORE = 8, 128
"""Directions of the runs beside it."""
LR, SECOND_LR = 0.02, 0.005


class Condensation(Params):
    """Ten images, descended to by a method."""

    method: Method = doc("How the first phase takes gradients.")
    second: Second = doc("How the second phase takes them, or none.", default="none")
    depth: int = doc("Inner steps T that gradients are taken through.")
    num_directions: int = doc("Random directions per gradient, b; 0 without.", default=0)
    keep: int = doc("Last inner steps that TRGU walks back; 0 without.", default=0)
    terms: int = doc("Terms of Neumann's series beyond the first; 0 without.", default=0)
    steps: int = doc("Outer steps of the first phase.")
    second_steps: int = doc("Outer steps of the second.", default=0)
    lr: float = doc("Step size of the first phase's Adam.", default=LR)
    second_lr: float = doc("Step size of the second's; 0 without.", default=0.0)
    batch_size: int = doc("Real digits per outer step.", default=512)
    num_nets: int = doc("Fresh nets that each evaluation trains.", default=10)
    test_steps: int = doc("Inner steps that they are trained for.", default=100)
    log_every: int = doc("Outer steps from one evaluation to the next.")
    seed: int = seed("One condensation: noise, initial weights, batches, directions, test split.")


def point(
    profile: Profile,
    method: Method,
    second: Second = "none",
    *,
    seed: int,
    depth: int = 0,
    num_directions: int = NUM_DIRECTIONS,
) -> Condensation:
    """Return a method for all outer steps of a profile, or two for half of them each.

    depth: 0 for the profile's own. Numbers that mean nothing to the methods are 0.
    """
    half, used = HALVES[profile], (method, second)
    depth = depth or DEPTHS[profile]
    two = second != "none"
    return Condensation(
        method=method,
        second=second,
        depth=depth,
        num_directions=num_directions if "fg2u" in used else 0,
        # A quarter of the unroll, as the released configuration of CaMeLS has it.
        keep=max(1, depth // 4) if "trgu" in used else 0,
        terms=20 if "neumann" in used else 0,
        steps=half if two else 2 * half,
        second_steps=half if two else 0,
        second_lr=SECOND_LR if two else 0.0,
        log_every=half // 4 or half,
        seed=seed,
    )


def first_phase(profile: Profile, method: Method, *, seed: int) -> Condensation:
    """Return a first phase that no second one follows."""
    return replace(point(profile, method, seed=seed), steps=HALVES[profile])


def grid(profile: Profile) -> Iterator[Condensation]:
    """Yield one phase and two; more and fewer directions; other depths."""
    for number in seeds_of(profile) if profile in HALVES else ():
        yield first_phase(profile, "hessian-free", seed=number)
        yield point(profile, "hessian-free", "fg2u", seed=number)
        yield point(profile, "rgu", seed=number)
        if profile == "smoke":
            continue
        for second in ("hessian-free", "rgu"):
            yield point(profile, "hessian-free", second, seed=number)
        for method in ("hessian-free", "trgu", "neumann", "fg2u"):
            yield point(profile, method, seed=number)
        for num_directions in (FEWER, MORE):
            yield point(profile, "fg2u", num_directions=num_directions, seed=number)
        for depth in (1, 2, 4, 6, 24, 48):
            yield point(profile, "rgu", depth=depth, seed=number)
        for depth in (24, 48):
            yield point(profile, "fg2u", depth=depth, seed=number)


def phases_grid(profile: Profile) -> Iterator[Condensation]:
    """Yield phases by Hessian-free and by exact gradients, at seeds that the run does not use."""
    for number in PILOT_SEEDS[1:3] if profile == "cpu" else ():
        yield first_phase("cpu", "hessian-free", seed=number)
        for second in ("hessian-free", "rgu"):
            yield point("cpu", "hessian-free", second, seed=number)
        yield point("cpu", "rgu", seed=number)
    if profile == "smoke":
        yield first_phase("smoke", "hessian-free", seed=PILOT_SEEDS[0])


def schedule(params: Condensation) -> list[Phase]:
    """Return the phases of a condensation, as `descend` takes them."""
    from reproductions.fg2u import Phase

    phases = [Phase(method=estimator(params, params.method), num_steps=params.steps, lr=params.lr)]
    if params.second != "none":
        method = estimator(params, params.second)
        phases.append(Phase(method=method, num_steps=params.second_steps, lr=params.second_lr))
    return phases


def estimator(params: Condensation, method: Method) -> Estimator:
    """Return a method with its numbers; all directions are carried at once."""
    from reproductions.fg2u.method.methods import fitted

    count = params.num_directions
    return fitted(method, num_directions=count, chunk=count, keep=params.keep, terms=params.terms)


def name_of(run: Any) -> str:
    """Return phases in words, with the number of directions where it is not the paper's.

    run: a condensation, or a row of one.

    >>> name_of(point("cpu", "hessian-free", "fg2u", seed=0))
    'hessian-free 160 + fg2u 160'
    >>> name_of(point("cpu", "fg2u", num_directions=FEWER, seed=0))
    'fg2u 320 (b = 8)'
    """
    second = "" if run.second == "none" else f" + {run.second} {run.second_steps}"
    is_usual = run.num_directions in (0, NUM_DIRECTIONS)
    directions = "" if is_usual else f" (b = {run.num_directions})"
    return f"{run.method} {run.steps}{second}{directions}"


def estimate(params: Condensation) -> Estimate:
    """Return the time of all inner steps, which along many directions take longer."""
    parts = ((params.method, params.steps), (params.second, params.second_steps))
    step_s = {"fg2u": 6.5e-3}
    seconds = sum(step_s.get(name, 1e-3) * steps for name, steps in parts) * params.depth
    return Estimate(seconds=0.3 + seconds, memory_bytes=2**29)


runs = Experiment(
    "fg2u/condensing",
    version=1,
    params=Condensation,
    grid=grid,
    run="trial:condensing_rows",
    needs=Needs(data=("digits",)),
    estimate=estimate,
    address=("method", "second", "depth", "num_directions", "steps", "seed"),
    stands_in=lambda params: {"MNIST": "digits of 8 x 8"},
)
phases = replace(
    runs,
    id="fg2u/pilot_phases",
    grid=phases_grid,
    address=("method", "second", "steps", "seed"),
)
