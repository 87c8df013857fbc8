"""The quadratic problem and its second moments against autograd, sums and whole enumerations."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import Tensor

from reproductions.fg2u.identities.biases import implicit_gradient
from reproductions.fg2u.identities.directions import sign_vectors
from reproductions.fg2u.identities.problems import drawn, logistic, phi_of
from reproductions.fg2u.identities.quadratics import (
    Quadratic,
    descent_shares,
    moment_after,
    quadratic,
)

ISOTROPIC = 0.3 * torch.eye(6, dtype=torch.float64)


@pytest.fixture(params=[1.0, 0.3])
def model(request: pytest.FixtureRequest) -> Quadratic:
    return quadratic(num_entries=5, num_steps=7, rate=request.param)


@pytest.fixture
def phi() -> Tensor:
    return drawn(5, seed=0)


def test_derivatives_are_autograd_s(model: Quadratic, phi: Tensor) -> None:
    problem = model.problem()
    jacobian = torch.func.jacrev(lambda p: problem.unroll(p, None)[1].params)(phi)
    torch.testing.assert_close(model.jacobian(7), jacobian, rtol=1e-12, atol=1e-14)
    gradient = torch.func.grad(lambda p: problem.unroll(p, None)[0])(phi)
    torch.testing.assert_close(model.gradient(phi), gradient, rtol=1e-12, atol=1e-14)
    hessian = torch.func.hessian(lambda p: problem.unroll(p, None)[0])(phi)
    torch.testing.assert_close(model.outer_hessian(), hessian, rtol=1e-12, atol=1e-14)


def test_the_implicit_gradient_is_that_of_whole_derivatives(model: Quadratic, phi: Tensor) -> None:
    def inner(theta: Tensor, phi: dict[str, Tensor]) -> Tensor:
        gap = theta - model.mixing_MN @ phi["weights"]
        return 0.5 * gap @ model.hessian_MM @ gap

    theta = model.jacobian(7) @ phi
    mixed = torch.func.jacrev(lambda p: torch.func.grad(inner)(theta, p))({"weights": phi})
    torch.testing.assert_close(model.mixed(), mixed["weights"])
    solved = torch.linalg.solve(model.hessian_MM, theta - model.target_M)
    torch.testing.assert_close(
        model.implicit(phi), model.decay * phi - solved @ mixed["weights"], rtol=1e-12, atol=1e-14
    )


def test_the_tail_is_a_long_sum(model: Quadratic, phi: Tensor) -> None:
    alpha = 0.5 * model.lr
    terms = [model.adjoint(phi) @ model.shrunk(alpha, k) for k in range(1500)]
    for kept in (0, 3):
        beyond = alpha * torch.stack(terms[kept + 1 :]).sum(0)
        found = model.tail(phi, alpha=alpha, terms=kept)
        torch.testing.assert_close(found, beyond, rtol=1e-9, atol=1e-12)


def test_at_the_inner_optimum_the_implicit_gradient_is_the_whole_one() -> None:
    """Against differences of h, after as many inner steps as it takes to get there."""
    problem, inner = logistic(num_steps=150)
    phi, size = phi_of(weights=4), 1e-5
    found = []
    for place in range(4):
        ends = []
        for sign in (1.0, -1.0):
            moved = phi["weights"].clone()
            moved[place] += sign * size
            ends.append(problem.unroll({"weights": moved}, None)[0])
        found.append((ends[0] - ends[1]) / (2 * size))
    exact = implicit_gradient(problem, inner, phi)
    torch.testing.assert_close(exact, torch.stack(found), rtol=1e-5, atol=1e-9)


def test_one_step_of_moments_is_the_mean_over_every_draw() -> None:
    b = 2
    hessian, start, beta = quadratic(num_entries=3).outer_hessian(), drawn(3, seed=1), 0.07
    gradient, total = hessian @ start, torch.zeros(3, 3, dtype=torch.float64)
    draws = list(product(sign_vectors(3), repeat=b))
    for draw in draws:
        estimate = torch.stack([(gradient @ v) * v for v in draw]).mean(0)
        after = start - beta * estimate
        total += torch.outer(after, after) / len(draws)
    found = moment_after(torch.outer(start, start), hessian, beta=beta, b=b)
    torch.testing.assert_close(found, total, rtol=1e-12, atol=1e-14)


def test_more_directions_than_the_theorem_allows_exceed_its_bound() -> None:
    """N = 6: with rho above 1 the printed bound is too small, as it is not with b = 5."""
    b, start = 12, drawn(6, seed=3)
    allowed = descent_shares(ISOTROPIC, start, b=5, num_steps=60)
    assert float(allowed.max()) <= 1.0
    rho = b / 5
    found = float(descent_shares(ISOTROPIC, start, b=b, num_steps=60)[-1])
    assert found > 1.0
    assert found == pytest.approx((1 + rho) / 2 * (1 - (1 + rho) ** -60), rel=1e-9)
