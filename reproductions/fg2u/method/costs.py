"""What each method will hold and take on a problem, before the whole unroll is run.

Peaks of live bytes are affine in what a method keeps: states, graphs of a step, tangents. A few
unrolls of at most six steps give the coefficients, and nothing larger is ever allocated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from harness.errors import SpecError
from reproductions.fg2u.method.directions import make_directions
from reproductions.fg2u.method.estimator import Estimator
from reproductions.fg2u.method.forward import Directional, Fg2u, Fg2uZo, Fgu
from reproductions.fg2u.method.implicit import HessianFree, Neumann
from reproductions.fg2u.method.noise import expected_square
from reproductions.fg2u.method.problem import GradientStep, Problem
from reproductions.fg2u.method.reverse import Rgu, RguCheckpoint, RguMixflow, Trgu, root_size
from reproductions.fg2u.method.trees import Tree, num_entries

Probe = tuple[Estimator, int]
"""A method and the number of inner steps that it is tried with."""
LONGEST = 6
"""Inner steps of the longest probe whose memory grows with them."""
REPEATS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What one estimate is expected to take."""

    method: Estimator
    peak_bytes: int
    """Live tensors beyond the problem's own."""
    seconds: float
    is_biased: bool
    relative_error: float | None
    """Root mean square error over the gradient's norm: 0 for exact methods, by Lemma 3.1 for
    random directions, None where a bias is not known."""

    def fits(self, budget_bytes: int) -> bool:
        """Return whether it stays within a budget."""
        return self.peak_bytes <= budget_bytes


def default_methods(
    problem: Problem, phi: Tree, *, num_directions: int, chunk: int
) -> list[Estimator]:
    """Return every method that a problem can be given to, with usual settings."""
    steps = problem.num_steps
    methods: list[Estimator] = [
        Rgu(),
        RguCheckpoint(),
        Fgu(),
        Fg2u(num_directions=num_directions, chunk=chunk),
        Fg2uZo(num_directions=num_directions, chunk=chunk),
        Trgu(keep=max(1, steps // 10)),
    ]
    if isinstance(problem.step, GradientStep):
        methods[2:2] = [RguMixflow(), RguMixflow(segment=0)]
        methods += [Neumann(terms=20), HessianFree()]
    return methods


def memory_report(
    problem: Problem, phi: Tree, batch: Any, methods: Sequence[Estimator]
) -> list[Cost]:
    """Return what each method will cost on a problem, in the order given.

    Raises SpecError for a problem of too few inner steps to tell.
    """
    if problem.num_steps < 2:
        raise SpecError("memory_report needs an unroll of at least two inner steps")
    return [_cost(problem, phi, batch, method) for method in methods]


def _cost(problem: Problem, phi: Tree, batch: Any, method: Estimator) -> Cost:
    asked = method
    if isinstance(method, Directional):
        # A grid has a number of its own.
        drawn = make_directions(method.directions, method.num_directions, num_entries(phi), 0)
        method = replace(method, num_directions=drawn.count)
    features = _features(method, num_entries(phi))
    probes = _probes(method, problem.num_steps, num_entries(phi))
    rows = np.array([features(tried, steps) for tried, steps in probes], dtype="float64")
    peaks = [_peak(problem, phi, batch, tried, steps) for tried, steps in probes]
    weights = np.linalg.lstsq(rows, np.array(peaks, dtype="float64"), rcond=None)[0]
    expected = float(np.dot(features(method, problem.num_steps), weights))
    return Cost(
        method=asked,
        peak_bytes=round(expected),
        seconds=_seconds(problem, phi, batch, method),
        is_biased=method.is_biased,
        relative_error=_error(method, num_entries(phi)),
    )


def _features(method: Estimator, num_entries: int) -> Callable[[Any, int], list[float]]:
    """Return what a method's peak is affine in, from its settings and the inner steps."""

    def segmented(tried: Any, steps: int) -> list[float]:
        size = min(tried.segment or root_size(steps), steps)
        return [1.0, float(-(-steps // size)), float(size)]

    match method:
        case Rgu() | RguMixflow(segment=1):
            return lambda tried, steps: [1.0, float(steps)]
        case RguCheckpoint() | RguMixflow():
            return segmented
        case Trgu():
            return lambda tried, steps: [1.0, float(tried.keep)]
        case Directional():
            return lambda tried, steps: [1.0, float(min(tried.chunk, tried.num_directions))]
        case Fgu():
            # Probed by directions, of which it carries all N at once.
            return lambda tried, steps: [1.0, float(getattr(tried, "chunk", num_entries))]
        case _:
            return lambda tried, steps: [1.0]


def _probes(method: Estimator, num_steps: int, num_entries: int) -> list[Probe]:
    """Return what is tried, never with more steps than the problem has: a step may read data of
    its own."""
    probes = [(tried, min(steps, num_steps)) for tried, steps in _long_probes(method, num_entries)]
    # What grows with the steps of so short an unroll is that unroll's own.
    grows = isinstance(method, Rgu | RguCheckpoint | RguMixflow)
    return [(method, num_steps)] if grows and num_steps <= LONGEST else probes


def _long_probes(method: Estimator, num_entries: int) -> list[Probe]:
    """Return what is tried of an unroll that is long enough."""
    match method:
        case Rgu() | RguMixflow(segment=1):
            return [(method, 3), (method, 5)]
        case RguCheckpoint() | RguMixflow():
            return [
                (replace(method, segment=size), steps) for size, steps in ((2, 4), (3, 6), (2, 6))
            ]
        case Trgu(keep=kept) if kept <= 5:
            return [(method, kept + 2)]
        case Trgu():
            return [(replace(method, keep=kept), 7) for kept in (3, 5)]
        case Directional():
            # One direction is not batched.
            counts = (1,) if 1 in (method.chunk, method.num_directions) else (2, 4)
            return [(_few(method, n, num_entries), 3) for n in counts]
        case Fgu():
            return [(Fg2u(num_directions=n, chunk=n), 3) for n in (2, 4)]
        case _:
            return [(method, 3)]


def _few(method: Directional, count: int, num_entries: int) -> Directional:
    """Return the method with a few directions, all at once."""
    # Of few entries there are no four coordinates, and a grid is all or nothing.
    kind = "rademacher" if num_entries < 4 else method.directions
    return replace(method, num_directions=count, chunk=count, directions=kind)


def _peak(problem: Problem, phi: Tree, batch: Any, method: Estimator, steps: int) -> int:
    generator = torch.Generator().manual_seed(0)
    return method.peak_bytes(replace(problem, num_steps=steps), phi, batch, generator)


def _seconds(problem: Problem, phi: Tree, batch: Any, method: Estimator) -> float:
    """Return the expected seconds, affine in the inner steps and proportional to the chunks."""
    rounds = 1.0
    if isinstance(method, Directional):
        rounds = -(-method.num_directions // method.chunk)
        count = min(method.num_directions, method.chunk)
        method = _few(method, count, num_entries(phi))
    if isinstance(method, Trgu):
        method = replace(method, keep=1)
    few, more = min(2, problem.num_steps), min(6, problem.num_steps)
    short, long = (_fastest(problem, phi, batch, method, steps) for steps in (few, more))
    # On a busy machine the longer run can be the faster one.
    slope = max(0.0, long - short) / max(1, more - few)
    return rounds * (short + slope * (problem.num_steps - few))


def _fastest(problem: Problem, phi: Tree, batch: Any, method: Estimator, steps: int) -> float:
    shortened = replace(problem, num_steps=steps)
    generator = torch.Generator().manual_seed(0)
    runs = [method(shortened, phi, batch, generator) for _ in range(1 + REPEATS)]
    return min(run.stats.seconds for run in runs[1:])


def _error(method: Estimator, num_entries: int) -> float | None:
    if isinstance(method, Directional) and not method.is_biased:
        square = expected_square(method.directions, num_entries, method.num_directions)
        return None if square is None else square**0.5
    return None if method.is_biased else 0.0
