"""What biased methods leave out: Appendix B on a strongly convex quadratic.

Source: arXiv 2406.14095v2, eqs. 21 to 27. TRGU's bias within its bound, and the implicit methods'
error to the last digit.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.func import grad, hessian, jacrev

from harness.declare import Row
from reproductions.fg2u.identities.problems import (
    InnerLoss,
    cosine,
    drawn,
    flat,
    logistic,
    phi_of,
    relative,
    row,
)
from reproductions.fg2u.identities.quadratics import Quadratic, quadratic
from reproductions.fg2u.method.methods import hypergradient
from reproductions.fg2u.method.problem import Problem

NUM_STEPS, NUM_ENTRIES = 12, 5
RATES = (1.0, 0.3)
"""Inner step sizes over the largest possible, 1 / L."""
TERMS = (0, 1, 5)


def bias_rows() -> list[Row]:
    """Return the rows of the group."""
    found: list[Row] = []
    for rate in RATES:
        problem = quadratic(num_entries=NUM_ENTRIES, num_steps=NUM_STEPS, rate=rate)
        phi, setting = drawn(NUM_ENTRIES, seed=17), f"step {rate:g}/L"
        found += [*_truncated(problem, phi, setting), *_implicit(problem, phi, setting)]
    return [*found, *_converged()]


def _truncated(quadratic: Quadratic, phi: Tensor, setting: str) -> Iterator[Row]:
    """Yield TRGU's bias for every s below T: relative to the gradient, and over eq. 22's bound."""
    problem, exact = quadratic.problem(), quadratic.gradient(phi)
    for keep in range(1, NUM_STEPS):
        found = hypergradient("trgu", keep=keep)(problem, phi).grad
        bias = float((found - exact).norm())
        yield row(
            "truncation", setting, keep,
            difference=relative(found, exact), cosine=cosine(found, exact),
            norm_ratio=float(found.norm() / exact.norm()),
            ratio=bias / quadratic.truncation_bound(phi, keep),
        )  # fmt: skip


def _implicit(quadratic: Quadratic, phi: Tensor, setting: str) -> Iterator[Row]:
    """Yield the implicit methods against eqs. 25 and 27, and against unrolling."""
    problem, exact = quadratic.problem(), hypergradient("rgu")(quadratic.problem(), phi).grad
    yield row("closed_form", setting, difference=relative(exact, quadratic.gradient(phi)))
    for terms in TERMS:
        alpha = 0.5 * quadratic.lr
        found = hypergradient("neumann", terms=terms, alpha=alpha)(problem, phi).grad
        tail = quadratic.tail(phi, alpha=alpha, terms=terms) @ quadratic.mixed()
        lacks = quadratic.implicit(phi) + tail
        yield row("series_tail", setting, terms, difference=relative(found, lacks))
        error = quadratic.implicit_error(phi, alpha=alpha, terms=terms)
        yield row("implicit_error", setting, terms, difference=relative(exact - found, error))
    series = hypergradient("neumann", terms=NUM_STEPS - 1)(problem, phi).grad
    yield row("series_unrolls", setting, NUM_STEPS - 1, difference=relative(series, exact))
    first = hypergradient("hessian-free")(problem, phi).grad
    one = hypergradient("trgu", keep=1)(problem, phi).grad
    yield row("first_term", setting, 1, difference=relative(first, one))


def _converged() -> Iterator[Row]:
    """Yield a long series against the implicit gradient, which a linear solver gives."""
    model = quadratic(num_entries=NUM_ENTRIES, num_steps=NUM_STEPS)
    phi = drawn(NUM_ENTRIES, seed=17)
    alpha, terms = 0.9 * model.lr, 100
    found = hypergradient("neumann", terms=terms, alpha=alpha)(model.problem(), phi).grad
    yield row("converged", "quadratic", terms, difference=relative(found, model.implicit(phi)))
    problem, inner = logistic(num_steps=3)
    weights = phi_of(weights=4)
    found = hypergradient("neumann", terms=terms, alpha=0.9)(problem, weights).grad
    exact = implicit_gradient(problem, inner, weights)
    yield row("converged", "logistic regression", terms, difference=relative(found, exact))


def implicit_gradient(problem: Problem, inner: InnerLoss, phi: dict[str, Tensor]) -> Tensor:
    """Return d - c H^-1 d2g/dtheta dphi at theta_T, by the whole Hessian."""
    theta = problem.unroll(phi, None)[1].params

    def gradient(phi: dict[str, Tensor]) -> Tensor:
        return grad(inner)(theta, phi)

    by_theta, by_phi = grad(problem.outer_loss, argnums=(0, 1))(theta, phi, None)
    solved = torch.linalg.solve(hessian(inner)(theta, phi), by_theta)
    mixed = jacrev(gradient)(phi)["weights"]
    return flat(by_phi) - solved @ mixed
