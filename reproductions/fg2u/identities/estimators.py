"""Estimators against each other: what must be equal whatever the problem.

w is the slope of h along v (arXiv 2406.14095v2, eqs. 8 and 9), the unroll forward is the unroll
backward (eq. 4), TRGU that keeps every step leaves out nothing (eq. 21), and neither chunks nor
workers change an estimate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from harness.declare import Row
from reproductions.fg2u.identities.problems import (
    OptimizerName,
    cosine,
    examples,
    flat,
    phi_of,
    relative,
    row,
)
from reproductions.fg2u.method.directions import Kind, make_directions
from reproductions.fg2u.method.forward import Fg2u
from reproductions.fg2u.method.methods import hypergradient
from reproductions.fg2u.method.problem import Problem
from reproductions.fg2u.method.trees import Tree, num_entries, split, tree_map
from reproductions.fg2u.method.workers import Part

NUM_STEPS, RELEASED_STEPS = 3, 10
NUM_DIRECTIONS = 7
CHUNKS, WORKERS = (1, 5, NUM_DIRECTIONS), (1, 2, 4)
OPTIMIZERS: tuple[OptimizerName, ...] = ("momentum", "Adam")
"""Both remember: what they do is part of what is differentiated."""
KINDS: tuple[Kind, ...] = ("rademacher", "gaussian")


def estimator_rows() -> list[Row]:
    """Return the rows of the group."""
    found: list[Row] = []
    for name in OPTIMIZERS:
        problem = examples(name, num_steps=NUM_STEPS)
        phi = phi_of(weights=4, rates=2, start=2)
        exact = hypergradient("rgu")(problem, phi).grad
        found += [*_slopes(name, problem, phi, exact), *_exact_methods(name, problem, phi, exact)]
    return [*found, *_splits(), *_released()]


def _slopes(name: str, problem: Problem, phi: Tree, exact: Tree) -> Iterator[Row]:
    """Yield the largest |w - <g, v>| over max(1, |g| |v|), by kind of direction."""
    gradient = flat(exact)
    for kind in KINDS:
        drawn = make_directions(kind, NUM_DIRECTIONS, num_entries(phi), 3)
        rows_CN = drawn.rows(range(NUM_DIRECTIONS)).double()
        w_C = slopes_along(problem, phi, rows_CN)
        allowed_C = (gradient.norm() * rows_CN.norm(dim=1)).clamp(min=1.0)
        worst = ((w_C - rows_CN @ gradient).abs() / allowed_C).max()
        yield row("slopes", f"{name}, {kind}", NUM_DIRECTIONS, difference=worst)


def slopes_along(problem: Problem, phi: Tree, rows_CN: torch.Tensor) -> torch.Tensor:
    """Return the forward derivative of h along directions, shape (C,)."""
    with torch.no_grad():
        method = Fg2u(num_directions=len(rows_CN))
        return method.slopes(problem, phi, None, split(rows_CN, phi)).slope_C


def _exact_methods(name: str, problem: Problem, phi: Tree, exact: Tree) -> Iterator[Row]:
    """Yield how far exact methods, and one that becomes exact, are from RGU."""
    count = num_entries(phi)
    coordinates = {"num_directions": count, "chunk": count, "directions": "coordinate"}
    methods: tuple[tuple[str, str, int, dict[str, Any]], ...] = (
        ("forward", "fgu", count, {}),
        ("forward", "fg2u", count, coordinates),
        ("full_truncation", "trgu", NUM_STEPS, {"keep": NUM_STEPS}),
        ("mixflow", "rgu-mixflow", 1, {}),
        ("mixflow", "rgu-mixflow", 0, {"segment": 0}),
    )
    for check, method, x, options in methods:
        found = hypergradient(method, **options)(problem, phi).grad
        yield row(check, f"{name}, {method}", x, difference=relative(found, exact))


def _splits() -> Iterator[Row]:
    """Yield how far an estimate is from that of one worker whose chunk holds all directions."""
    problem, phi = examples("momentum", num_steps=NUM_STEPS), phi_of(weights=4, rates=2, start=2)
    method = Fg2u(num_directions=NUM_DIRECTIONS, chunk=NUM_DIRECTIONS)

    def estimate(**changed: Any) -> Tree:
        generator = torch.Generator().manual_seed(4)
        return replace(method, **changed)(problem, phi, None, generator).grad

    whole = estimate()
    for chunk in CHUNKS:
        yield row("chunks", "momentum", chunk, difference=relative(estimate(chunk=chunk), whole))
    for count in WORKERS:
        parts = [estimate(workers=Part(rank=rank, count=count)) for rank in range(count)]
        total = tree_map(lambda *leaves: torch.stack(leaves).sum(0), *parts)
        yield row("workers", "momentum", count, difference=relative(total, whole))


def _released() -> Iterator[Row]:
    """Yield what the released reverse script computes: exact only without momentum, and where phi
    acts neither on the start nor on the first step."""
    cases: tuple[tuple[OptimizerName, int, str], ...] = (
        ("momentum", 0, "released"),
        ("momentum", 1, "released"),
        ("SGD", 0, "released"),
        ("SGD", 1, "released_exact"),
    )
    for name, since, check in cases:
        problem = examples(name, num_steps=RELEASED_STEPS, since=since)
        phi = phi_of(weights=4, rates=4, start=0 if since else 2)
        exact = hypergradient("rgu")(problem, phi).grad
        found = hypergradient("rgu-released")(problem, phi).grad
        yield row(
            check, f"{name}, phi from {'step 1' if since else 'the start'}", since,
            difference=relative(found, exact), cosine=cosine(found, exact),
            norm_ratio=float(flat(found).norm() / flat(exact).norm()),
        )  # fmt: skip
