"""Pilots of Table 1, at seeds that the run does not use.

What they are to tell was fixed before: which setting is the smallest in which exact gradients show
what the paper shows, and each method's outer step size there. No setting is chosen by how (FG)2U
does in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.declare import PILOT_SEEDS, Experiment, Profile
from reproductions.fg2u.image_sets.cells import (
    ALSO_TRIED,
    CHOSEN,
    CPU,
    DIGITS,
    TRIED,
    Cell,
    cells_of,
)
from reproductions.fg2u.image_sets.experiment import (
    BIASED,
    METHODS,
    Continuation,
    continuations,
    estimate,
    longer,
    needs,
    second_phase,
    stands_in,
    without_descent,
)
from reproductions.fg2u.image_sets.params import Condensation, Method, taken_by

SEEDS = PILOT_SEEDS[1:3]
"""Candidates were drawn up with a look at the first seed, which is left out."""
COMPARED: tuple[Method, ...] = ("hessian-free", "neumann", "trgu", "rgu")
"""Exact gradients and the biased methods, which tell settings apart."""
RATES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
"""First step sizes of outer Adam that every method is given; candidates have 0.05.

0.02, 0.05 and 0.1 were tried first. The least outer loss of every method but RGU was at an end.
"""
RATE_STEPS = 200
"""Outer steps over which those step sizes are compared."""
LATER_RATES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
"""Those that every method is given in a second phase, with ten images per class."""
LONGER_RATES = LATER_RATES[:-1]
"""Those that biased methods are given where their outer steps fill (FG)2U's time.

0.05 was added: the least outer loss of Hessian-free was at the end before it.
"""
TINY = replace(DIGITS, net="mlp", lr=TRIED[CHOSEN].lr, seed=PILOT_SEEDS[0])
"""What both pilots have at `smoke`: a candidate, and a setting of outer step sizes."""


def sets_grid(profile: Profile) -> Iterator[Condensation]:
    """Yield every candidate by exact and biased gradients, then all methods in the chosen one."""
    if profile == "smoke":
        yield without_descent(Cell(first=TINY), "real", seed=TINY.seed)
        yield from (taken_by(TINY, method) for method in (*COMPARED, "fg2u"))
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
    for lr in LONGER_RATES:
        for method in BIASED:
            yield replace(longer(CPU[0], method, seed=SEEDS[0]), lr=lr)


def second_grid(profile: Profile) -> Iterator[Continuation]:
    """Yield second phases by every method, each at all step sizes."""
    cell = cells_of(profile)[-1]
    rates = {"smoke": (cell.second_lr,), "cpu": LATER_RATES}.get(profile, ())
    for lr in rates:
        for method in METHODS if profile == "cpu" else ("fg2u",):
            yield replace(second_phase(cell, method, seed=SEEDS[0]), lr=lr)


sets = Experiment(
    "fg2u/pilot_sets",
    version=1,
    params=Condensation,
    grid=sets_grid,
    run="trial:condensed_rows",
    needs=needs,
    estimate=estimate,
    address=("dataset", "ipc", "width", "depth", "inner_lr", "steps", "lr", "method", "seed"),
    stands_in=stands_in,
)
second_phases = replace(
    continuations,
    id="fg2u/pilot_second_phases",
    grid=second_grid,
    address=("dataset", "ipc", "method", "steps", "lr", "seed"),
)
