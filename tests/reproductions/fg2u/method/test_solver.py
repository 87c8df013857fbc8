"""Solvers as inner problems: what a black box can be given to, and what is differenced."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

from harness.errors import RunError
from reproductions.fg2u import Problem, from_solver, hypergradient
from tests.reproductions.fg2u.small import drawn

TARGET = drawn(5, seed=4)


def curve(phi: Tensor) -> Tensor:
    """Return five smooth numbers of two coefficients."""
    return torch.sin(torch.arange(1.0, 6.0, dtype=torch.float64) * phi[0]) + phi[1] ** 2


def misfit(field: Tensor, phi: Tensor, batch: object) -> Tensor:
    return (field - TARGET).square().sum() + 0.3 * phi.square().sum()


def smooth() -> Problem:
    return from_solver(solve=lambda phi, batch: curve(phi), outer_loss=misfit)


PHI = torch.tensor([0.4, -0.7], dtype=torch.float64)


def expected() -> Tensor:
    phi = PHI.clone().requires_grad_()
    return torch.autograd.grad(misfit(curve(phi), phi, None), phi)[0]


@pytest.mark.parametrize("name", ["rgu", "fgu"])
def test_exact_methods_go_through_a_solver(name: str) -> None:
    assert torch.allclose(hypergradient(name)(smooth(), PHI).grad, expected(), rtol=1e-12)


@pytest.mark.parametrize("differences", ["loss", "result"])
@pytest.mark.parametrize("scheme", ["forward", "central"])
def test_either_difference_tends_to_the_gradient(scheme: str, differences: str) -> None:
    method = hypergradient(
        "fg2u-zo", num_directions=2, chunk=2, directions="coordinate", mu=1e-6, scheme=scheme,
        differences=differences,
    )  # fmt: skip
    # Both scaled coordinates together have no noise; what is left is the step's.
    assert torch.allclose(method(smooth(), PHI).grad, expected(), rtol=1e-4)


def test_differences_of_the_result_are_the_released_quadrature() -> None:
    # Twelve nodes per coefficient, the mean of node times difference, then the loss's gradient.
    mu, nodes = 1e-4, torch.linspace(-5.0, 5.0, 12, dtype=torch.float64)
    places = torch.tensor(list(itertools.product(nodes, repeat=2)))
    weights = torch.softmax(-0.5 * places.square().sum(1), 0)
    moved = torch.stack([curve(PHI + mu * place) for place in places])
    slopes = torch.einsum("c,cm,cn->mn", weights, (moved - curve(PHI)) / mu, places)
    by_field = 2 * (curve(PHI) - TARGET)
    # Sum of w v v^T, by which the loss's own slope in phi is multiplied too.
    share = torch.einsum("c,cm,cn->mn", weights, places, places)
    released = by_field @ slopes + share @ (0.6 * PHI)
    method = hypergradient(
        "fg2u-zo", num_directions=1, directions="gauss-grid", mu=mu, scheme="forward",
        differences="result",
    )  # fmt: skip
    assert torch.allclose(method(smooth(), PHI).grad, released, rtol=1e-9)


@pytest.mark.parametrize("differences", ["loss", "result"])
def test_a_black_box_may_leave_torch(differences: str) -> None:
    def outside(phi: Tensor, batch: object) -> Tensor:
        return torch.from_numpy(curve(torch.from_numpy(phi.numpy().copy())).numpy())

    method = hypergradient(
        "fg2u-zo", num_directions=2, directions="coordinate", mu=1e-5, differences=differences
    )
    problem = from_solver(solve=outside, outer_loss=misfit)
    assert torch.allclose(method(problem, PHI).grad, expected(), rtol=1e-6)


def test_a_field_that_is_not_finite_is_the_solvers() -> None:
    problem = from_solver(
        solve=lambda phi, batch: torch.from_numpy((phi / 0.0).numpy()),
        outer_loss=lambda field, phi, batch: field.square().sum(),
    )
    with pytest.raises(RunError, match="the start, or the solver, returns a value that is not"):
        hypergradient("fg2u-zo", num_directions=1)(problem, PHI)
