"""Descent along (FG)2U's estimates: Theorem 3.4 by exact second moments, without sampling.

Source: arXiv 2406.14095v2, Theorem 3.4 and eq. 39. h is the outer loss of gradient descent on a
quadratic, so quadratic too; L_h is its largest eigenvalue. The theorem's own constant is larger,
and its bound looser.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from harness.declare import Row
from reproductions.fg2u.identities.directions import every_estimate
from reproductions.fg2u.identities.problems import drawn, relative, row
from reproductions.fg2u.identities.quadratics import (
    descent_shares,
    moment_after,
    quadratic,
    rho_of,
    step_size,
)

SIZES = (4, 12)
PLACES = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000)
"""Numbers of outer steps K that are shown."""


def descent_rows() -> list[Row]:
    """Return the rows of the group."""
    every = (_shares(size, b) for size in SIZES for b in (1, size // 2, size - 1))
    return [*(each for rows in every for each in rows), *_isotropic(), *_one_step()]


def _shares(size: int, b: int) -> Iterator[Row]:
    """Yield the theorem's left side over its right side."""
    problem = quadratic(num_entries=size)
    start = drawn(size, seed=14) - problem.optimum()
    shares = descent_shares(problem.outer_hessian(), start, b=b, num_steps=max(PLACES))
    for steps in PLACES:
        yield row("descent", f"N = {size}, b = {b}", steps, ratio=shares[steps - 1])


def _isotropic() -> Iterator[Row]:
    """Yield how far the left side is from its closed form where h = lambda |phi|^2 / 2.

    E|grad h|^2 shrinks by 1 / (1 + rho) a step, so that the left side is 1 - (1 + rho)^-K of the
    inner bound 2 (rho + 1) L_h Delta / (rho K); at rho = 1 that is the printed bound.
    """
    size = 6
    for b in (1, 2, size - 1):
        rho = rho_of(b, size)
        hessian = 0.7 * torch.eye(size, dtype=torch.float64)
        shares = descent_shares(hessian, drawn(size, seed=15), b=b, num_steps=50)
        for steps in (1, 2, 5, 10, 20, 50):
            inner = float(shares[steps - 1]) * 2.0 / (rho + 1.0)
            gap = abs(inner - (1.0 - (1.0 + rho) ** -steps))
            yield row(
                "isotropic", f"N = {size}, b = {b}", steps,
                difference=gap, ratio=shares[steps - 1],
            )  # fmt: skip


def _one_step() -> Iterator[Row]:
    """Yield how far the recursion is from one outer step along every estimate there is."""
    size = 5
    problem, phi = quadratic(num_entries=size, num_steps=6), drawn(size, seed=16)
    hessian, optimum = problem.outer_hessian(), problem.optimum()
    estimate_CN = every_estimate(problem.problem(), phi)
    smoothness = float(torch.linalg.eigvalsh(hessian)[-1])
    pair_CN = 0.5 * (estimate_CN[:, None] + estimate_CN[None]).reshape(-1, size)
    for b, found in ((1, estimate_CN), (2, pair_CN)):
        beta = step_size(rho_of(b, size), smoothness)
        after_CN = phi - beta * found - optimum
        counted = after_CN.T @ after_CN / len(after_CN)
        start = phi - optimum
        expected = moment_after(torch.outer(start, start), hessian, beta=beta, b=b)
        yield row("one_step", f"N = {size}", b, difference=relative(counted, expected))
