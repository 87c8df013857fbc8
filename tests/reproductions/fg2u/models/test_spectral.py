"""The Fourier solver: order, batches, derivatives, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from torch import Tensor
from torch.func import jvp, vmap

from harness.errors import SpecError
from reproductions.fg2u.models.exact import (
    exact_solution,
    observed_indices,
    relative_l2,
)
from reproductions.fg2u.models.spectral import (
    ALLEN_CAHN,
    BURGERS,
    KDV,
    PDES,
    Grid,
    Pde,
    fields,
    solve,
)

TIMES, PLACES = [0.1, 0.3], torch.linspace(-0.9, 0.9, 7, dtype=torch.float64)
SMALL = Grid(num_points=64, num_steps=200)
EQUATIONS = [pytest.param(pde, id=name) for name, pde in PDES.items()]


def field(pde: Pde, nu: Tensor, grid: Grid = SMALL) -> Tensor:
    return fields(pde, nu, grid, times=TIMES, places=PLACES)


def coefficient(pde: Pde, factor: float = 4.0) -> Tensor:
    return torch.tensor(factor * pde.true_coefficient, dtype=torch.float64)


@pytest.mark.parametrize("pde", EQUATIONS)
def test_time_steps_are_of_fourth_order(pde: Pde) -> None:
    nu = coefficient(pde)
    # Times that 10 steps per unit meet; few modes, so that all are in the order's range.
    exact, *rest = (field(pde, nu, Grid(num_points=16, num_steps=n)) for n in (1280, 40, 80))
    coarse, fine = (float((each - exact).norm()) for each in rest)
    assert math.log2(coarse / fine) == pytest.approx(4, abs=0.4)


@pytest.mark.parametrize("pde", EQUATIONS)
def test_a_batch_of_coefficients_is_one_solve_with_the_same_results(pde: Pde) -> None:
    several = torch.stack([coefficient(pde, factor) for factor in (1.0, 2.0, 4.0)])
    each = torch.stack([field(pde, nu) for nu in several])
    assert torch.allclose(field(pde, several), each, rtol=1e-12, atol=1e-14)
    assert torch.allclose(vmap(lambda nu: field(pde, nu))(several), each, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("pde", EQUATIONS)
def test_the_forward_derivative_is_that_of_differences(pde: Pde) -> None:
    nu, step = coefficient(pde), 1e-4 * coefficient(pde)
    value, slope = jvp(lambda each: field(pde, each), (nu,), (torch.ones_like(nu),))
    differences = (field(pde, nu + step) - field(pde, nu - step)) / (2 * step)
    assert torch.allclose(value, field(pde, nu), rtol=1e-12)
    assert relative_l2(slope, differences) < 1e-5


@pytest.mark.parametrize("pde", [BURGERS, KDV], ids=lambda pde: pde.name)
def test_the_equation_is_solved_as_by_finite_differences(pde: Pde) -> None:
    count = 256
    x, dx = np.linspace(-1.0, 1.0, count, endpoint=False), 2.0 / count
    nu = 4.0 * pde.true_coefficient

    def rate(t: float, u: np.ndarray) -> np.ndarray:
        around = {shift: np.roll(u, -shift) for shift in (-2, -1, 1, 2)}
        u_x = (around[1] - around[-1]) / (2 * dx)
        if pde is BURGERS:
            return -u * u_x + nu * (around[1] - 2 * u + around[-1]) / dx**2
        third = (around[2] - 2 * around[1] + 2 * around[-1] - around[-2]) / (2 * dx**3)
        return -u * u_x - nu * third

    start = pde.initial(torch.from_numpy(x)).numpy()
    found = solve_ivp(rate, (0.0, 0.3), start, method="BDF", rtol=1e-6, atol=1e-8).y[:, -1]
    ours = fields(pde, coefficient(pde), SMALL, times=[0.3], places=torch.from_numpy(x))[0]
    # Second order in dx.
    assert relative_l2(ours, torch.from_numpy(found)) < 3e-3


def test_allen_cahn_with_walls_is_that_of_finite_differences_and_not_periodic() -> None:
    count = 401
    x = np.linspace(-1.0, 1.0, count)
    nu, dx = ALLEN_CAHN.true_coefficient, 2.0 / (count - 1)

    def rate(t: float, u: np.ndarray) -> np.ndarray:
        inside = nu * (u[2:] - 2 * u[1:-1] + u[:-2]) / dx**2 + 5 * (u[1:-1] - u[1:-1] ** 3)
        return np.concatenate([[0.0], inside, [0.0]])

    band = np.arange(count)
    sparsity = np.abs(band[:, None] - band) <= 1
    start = x**2 * np.cos(np.pi * x)
    solved = solve_ivp(
        rate, (0.0, 0.3), start, method="BDF", rtol=1e-7, atol=1e-9, jac_sparsity=sparsity
    )
    places, truth = torch.from_numpy(x), torch.from_numpy(solved.y[:, -1])
    ours = exact_solution(ALLEN_CAHN, [0.3], places)[0]
    nu_tensor = torch.tensor(nu, dtype=torch.float64)
    periodic = fields(ALLEN_CAHN, nu_tensor, Grid(num_points=512, num_steps=100),
                      times=[0.3], places=places)[0]  # fmt: skip
    assert relative_l2(ours, truth) < 2e-4
    assert float((ours[[0, -1]] + 1.0).abs().max()) < 1e-10
    assert float((periodic[[0, -1]] + 1.0).abs().max()) > 1e-3


def test_observations_are_those_of_figure_e1() -> None:
    assert observed_indices(100, 8) == [11, 22, 33, 44, 55, 66, 77, 88]
    assert observed_indices(201, 8) == [22, 44, 66, 88, 111, 133, 155, 177]
    assert observed_indices(512, 8) == [56, 113, 170, 227, 283, 340, 397, 454]
    with pytest.raises(SpecError, match="99 observations along an axis of 100: need 1 to 98"):
        observed_indices(100, 99)


def test_what_the_solver_cannot_take_is_refused() -> None:
    outside = torch.tensor([0.1, 10.5], dtype=torch.float64)
    with pytest.raises(SpecError, match=r"burgers: coefficient \S+ is outside .* \(0, 10\]"):
        solve(BURGERS, outside, SMALL, times=TIMES, places=PLACES)
    with pytest.raises(SpecError, match=r"t = 0\.1101 lies between two of 200 steps"):
        fields(BURGERS, coefficient(BURGERS), SMALL, times=[0.1101], places=PLACES)
