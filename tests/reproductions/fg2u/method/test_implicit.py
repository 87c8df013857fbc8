"""Implicit methods against the closed form of a quadratic inner problem."""

from __future__ import annotations

import pytest
import torch

from harness.errors import SpecError
from reproductions.fg2u import Problem, hypergradient
from tests.reproductions.fg2u.small import drawn, quadratic


def test_a_converged_series_is_the_implicit_gradient() -> None:
    """At the optimum theta = B phi, dtheta/dphi = B, and the exact unroll converges to it too."""
    problem, phi = quadratic(num_steps=400, lr=0.3)
    mixing = drawn(4, 5, seed=2)
    implicit = (mixing @ phi - 1.0) @ mixing
    series = hypergradient("neumann", terms=400, alpha=0.3)(problem, phi)
    assert torch.allclose(series.grad, implicit, rtol=1e-8)
    assert torch.allclose(hypergradient("rgu")(problem, phi).grad, implicit, rtol=1e-8)
    assert not series.stats.diverged


def test_the_first_term_is_hessian_free() -> None:
    problem, phi = quadratic(num_steps=5)
    first = hypergradient("neumann", terms=0, alpha=0.7)(problem, phi).grad
    assert torch.equal(first, hypergradient("hessian-free", alpha=0.7)(problem, phi).grad)
    by_rate = hypergradient("hessian-free")(problem, phi).grad
    assert torch.allclose(by_rate * 7, first, rtol=1e-12)  # The inner step size is 0.1.


def test_the_last_step_s_rate_is_the_scale_without_another() -> None:
    problem, phi = quadratic(num_steps=5, lr=lambda phi, number: 0.1 / (1 + number))
    last = hypergradient("hessian-free", alpha=0.02)(problem, phi).grad
    assert torch.allclose(hypergradient("hessian-free")(problem, phi).grad, last, rtol=1e-12)


def test_a_series_that_diverges_says_so() -> None:
    problem, phi = quadratic(num_steps=5)
    with pytest.warns(RuntimeWarning, match="the Neumann series grew.*lower alpha"):
        assert hypergradient("neumann", terms=60, alpha=10.0)(problem, phi).stats.diverged


def test_a_step_of_ones_own_has_no_inner_loss() -> None:
    problem = Problem(
        start=lambda phi, batch: phi,
        step=lambda state, phi, batch, number: 0.5 * state,
        outer_loss=lambda state, phi, batch: state.sum(),
        num_steps=2,
    )
    for name, options in (("neumann", {"terms": 1}), ("hessian-free", {}), ("rgu-mixflow", {})):
        with pytest.raises(SpecError, match="needs an inner loss"):
            hypergradient(name, **options)(problem, torch.ones(2))
