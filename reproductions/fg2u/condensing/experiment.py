"""Condensing digits to one image per class, by a method or by two phases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc, seed, seeds_of

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
SECONDS = {"rgu": 0.9, "trgu": 1.0, "neumann": 1.2, "hessian-free": 1.0, "fg2u": 6.5}
"""Of a thousand inner steps; of (FG)2U with 32 directions at a time."""


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


def schedule_name(
    method: str, steps: int, second: str, second_steps: int, num_directions: int
) -> str:
    """Return phases in words, with the number of directions where it is not the paper's.

    >>> schedule_name("rgu", 320, "none", 0, 0)
    'rgu 320'
    >>> schedule_name("hessian-free", 160, "fg2u", 160, 32)
    'hessian-free 160 + fg2u 160'
    >>> schedule_name("fg2u", 320, "none", 0, 8)
    'fg2u 320 (b = 8)'
    """
    phases = f"{method} {steps}" + ("" if second == "none" else f" + {second} {second_steps}")
    is_usual = num_directions in (0, NUM_DIRECTIONS)
    return phases if is_usual else f"{phases} (b = {num_directions})"


def estimate(params: Condensation) -> Estimate:
    """Return the measured cost, in which the calls of small operations are all that counts."""
    parts = ((params.method, params.steps), (params.second, params.second_steps))
    inner = sum(SECONDS.get(name, 0.0) * steps for name, steps in parts) * params.depth / 1000
    # A fourfold number of directions takes half as long again.
    many = max(1.0, params.num_directions / NUM_DIRECTIONS) ** 0.3
    return Estimate(seconds=0.3 + inner * many, memory_bytes=2**29)


def stands_in(params: Condensation) -> dict[str, str]:
    """Return what was condensed in the place of the paper's data sets."""
    return {"MNIST": "digits of 8 x 8"}


runs = Experiment(
    "fg2u/condensing",
    version=1,
    params=Condensation,
    grid=grid,
    run="trial:condensing_rows",
    needs=Needs(data=("digits",)),
    estimate=estimate,
    address=("method", "second", "depth", "num_directions", "steps", "seed"),
    stands_in=stands_in,
)
