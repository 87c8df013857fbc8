"""Directions, all of them: what (FG)2U gives in the mean over every sign vector there is.

Lemma 3.1 (arXiv 2406.14095v2): for Rademacher directions, E g_hat = g and
E|g_hat - g|^2 = (N-1)/b |g|^2. Its printed proof has E|v v^T|^2 = N where it needs v^T v = N; the
lemma stands. Where phi acts early, this also shows what the biases of Appendix B come to.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import torch
from torch import Tensor

from harness.declare import Row
from reproductions.fg2u.identities.estimators import slopes_along
from reproductions.fg2u.identities.problems import examples, flat, phi_of, relative, row
from reproductions.fg2u.method.methods import hypergradient
from reproductions.fg2u.method.problem import Problem
from reproductions.fg2u.method.trees import Tree, num_entries

SIZES = (1, 2, 4, 6, 8)
NUM_STEPS, NUM_EARLY = 6, 2


def direction_rows() -> list[Row]:
    """Return the rows of the group."""
    return [*(each for size in SIZES for each in _lemma(size)), *_early()]


def sign_vectors(size: int) -> Tensor:
    """Return all vectors of signs, shape (2^N, N)."""
    return torch.tensor(list(product((-1.0, 1.0), repeat=size)), dtype=torch.float64)


def every_estimate(problem: Problem, phi: Tree) -> Tensor:
    """Return w v for every sign vector v, shape (2^N, N)."""
    v_CN = sign_vectors(num_entries(phi))
    return slopes_along(problem, phi, v_CN)[:, None] * v_CN


def _lemma(size: int) -> Iterator[Row]:
    """Yield the mean over all sign vectors, and of the squared error for b = 1 and 2."""
    problem = examples("momentum", num_steps=NUM_STEPS)
    phi = phi_of(weights=size)
    gradient = flat(hypergradient("rgu")(problem, phi).grad)
    estimate_CN = every_estimate(problem, phi)
    # A pair of directions is any two, the same one twice included.
    pair_CCN = 0.5 * (estimate_CN[:, None] + estimate_CN[None])
    for b, drawn in ((1, estimate_CN), (2, pair_CCN.reshape(-1, size))):
        yield row("mean", f"N = {size}", b, difference=relative(drawn.mean(0), gradient))
        error = (drawn - gradient).square().sum(1).mean() / gradient.square().sum()
        gap = abs(float(error) - (size - 1) / b)
        yield row("squared_error", f"N = {size}", b, difference=gap, ratio=float(error))


def _early() -> Iterator[Row]:
    """Yield estimates where phi is initial weights and the step sizes of the first steps alone.

    `ratio`: the estimate's norm over the exact gradient's; `difference`: as everywhere.
    """
    problem, phi = examples("momentum", num_steps=NUM_STEPS), phi_of(rates=NUM_EARLY, start=3)
    exact, count = hypergradient("rgu")(problem, phi).grad, num_entries(phi)

    def size_of(found: Tree) -> float:
        return float(flat(found).abs().max() / flat(exact).norm())

    for keep in range(1, NUM_STEPS - NUM_EARLY + 1):
        found = hypergradient("trgu", keep=keep)(problem, phi).grad
        yield row("early_unseen", "trgu", keep, ratio=size_of(found))
    for name, terms, options in (("hessian-free", 0, {}), ("neumann", 5, {"terms": 5})):
        found = hypergradient(name, **options)(problem, phi).grad
        yield row("early_unseen", name, terms, ratio=size_of(found))
    coordinates = hypergradient(
        "fg2u", num_directions=count, chunk=count, directions="coordinate"
    )(problem, phi).grad  # fmt: skip
    yield row("early_seen", "coordinates", count, difference=relative(coordinates, exact))
    mean = every_estimate(problem, phi).mean(0)
    yield row("early_seen", "all sign vectors", 2**count, difference=relative(mean, flat(exact)))
