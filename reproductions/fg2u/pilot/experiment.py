"""Pilots of data condensation and of online adaptation, at seeds that the run does not use.

What they are to tell was fixed before: which setting of Table 1 is the smallest in which exact
gradients show what the paper shows, each method's outer step size there, and whether learned
weights of tokens help a model that reads a stream. No setting is chosen by how (FG)2U does in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.declare import PILOT_SEEDS, Estimate, Experiment, Params, Profile, doc, seed
from reproductions.fg2u.adaptation.experiment import BASE_STEPS, Scale
from reproductions.fg2u.condensing import experiment as digits
from reproductions.fg2u.image_sets.cells import (
    ALSO_TRIED,
    CHOSEN,
    DIGITS,
    TRIED,
    Cell,
    Condensation,
    Method,
    taken_by,
)
from reproductions.fg2u.image_sets.experiment import estimate, needs, stands_in, without_descent

SEEDS = PILOT_SEEDS[1:3]
"""Candidates were drawn up with a look at the first seed, which is left out."""
COMPARED: tuple[Method, ...] = ("hessian-free", "neumann", "trgu", "rgu")
"""Exact gradients and the biased methods, which tell settings apart."""
RATES = (0.02, 0.05, 0.1)
"""First step sizes of outer Adam that every method is given; candidates have the middle one."""
RATE_STEPS = 200
"""Outer steps over which those step sizes are compared."""
PHASES: tuple[tuple[digits.Method, digits.Second], ...] = (
    ("hessian-free", "none"),
    ("hessian-free", "hessian-free"),
    ("hessian-free", "rgu"),
    ("rgu", "none"),
)


def sets_grid(profile: Profile) -> Iterator[Condensation]:
    """Yield every candidate by exact and biased gradients, then all methods in the chosen one."""
    if profile == "smoke":
        tiny = replace(DIGITS, net="mlp", seed=PILOT_SEEDS[0])
        yield from (taken_by(tiny, method) for method in ("rgu", "fg2u"))
    if profile != "cpu":
        return
    drawn: set[Condensation] = set()
    for number in SEEDS:
        # A second seed says how far seeds are apart, where the first left a candidate in.
        chosen = TRIED if number == SEEDS[0] else {CHOSEN: TRIED[CHOSEN]}
        for first in (chosen | ALSO_TRIED).values():
            real = without_descent(Cell(first=first), "real", seed=number)
            # Candidates that differ in outer steps alone share it.
            yield from {real} - drawn
            drawn.add(real)
            for method in COMPARED:
                yield taken_by(replace(first, seed=number), method)
    for lr in RATES:
        for method in (*COMPARED, "fg2u"):
            first = replace(TRIED[CHOSEN], steps=RATE_STEPS, lr=lr, seed=SEEDS[0])
            yield taken_by(first, method)


sets = Experiment(
    "fg2u/pilot_sets",
    version=1,
    params=Condensation,
    grid=sets_grid,
    run=".image_sets.trial:condensed_rows",
    needs=needs,
    estimate=estimate,
    address=("dataset", "ipc", "width", "depth", "inner_lr", "steps", "lr", "method", "seed"),
    stands_in=stands_in,
)


def phases_grid(profile: Profile) -> Iterator[digits.Condensation]:
    """Yield phases on digits by Hessian-free and by exact gradients."""
    for number in SEEDS if profile == "cpu" else ():
        yield digits.first_phase("cpu", "hessian-free", seed=number)
        for method, second in PHASES[1:]:
            yield digits.point("cpu", method, second, seed=number)
    if profile == "smoke":
        yield digits.first_phase("smoke", "hessian-free", seed=PILOT_SEEDS[0])


phases = Experiment(
    "fg2u/pilot_phases",
    version=1,
    params=digits.Condensation,
    grid=phases_grid,
    run=".condensing.trial:condensing_rows",
    needs=digits.runs.needs,
    estimate=digits.estimate,
    address=("method", "second", "steps", "seed"),
    stands_in=digits.stands_in,
)


class Stream(Params):
    """Two models trained on made-up facts, which then read streams with and without weights."""

    scale: Scale = doc("full, or tiny for a path that takes a second.")
    small_steps: int = doc("Optimizer steps of the smaller model.")
    large_steps: int = doc("Optimizer steps of the larger one.")
    num_read: int = doc("Documents of the validation stream, and of the longer test stream.")
    seed: int = seed("One corpus and its streams, base models, batches and directions.")


def streams_grid(profile: Profile) -> Iterator[Stream]:
    """Yield both base models as the experiment of Table 2 trains them."""
    steps = BASE_STEPS["streamingqa"]
    for number in SEEDS if profile == "cpu" else ():
        yield Stream(
            scale="full", small_steps=steps["small"], large_steps=steps["large"], num_read=160,
            seed=number,
        )  # fmt: skip
    if profile == "smoke":
        yield Stream(scale="tiny", small_steps=2, large_steps=2, num_read=8, seed=PILOT_SEEDS[0])


def streams_estimate(params: Stream) -> Estimate:
    """Return the time of training, and of reading."""
    if params.scale == "tiny":
        return Estimate(seconds=1.0, memory_bytes=2**30)
    training_s = 0.044 * params.small_steps + 0.088 * params.large_steps
    return Estimate(seconds=training_s + 0.6 * params.num_read, memory_bytes=2**31)


streams = Experiment(
    "fg2u/pilot_streams",
    version=1,
    params=Stream,
    grid=streams_grid,
    run="trial:stream_rows",
    estimate=streams_estimate,
    address=("scale", "seed"),
    stands_in=lambda params: {"StreamingQA": "made-up facts"},
)
