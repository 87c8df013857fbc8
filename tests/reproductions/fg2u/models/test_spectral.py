"""The Fourier solver: order, batches, derivatives, and what it refuses."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from torch import Tensor
from torch.func import jvp, vmap

from harness.errors import RunError, SpecError
from reproductions.fg2u.models.exact import (
    cole_hopf,
    exact_solution,
    observations,
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
    pde_named,
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


def test_burgers_is_the_closed_form() -> None:
    closed = cole_hopf(4 * BURGERS.true_coefficient, TIMES, PLACES)
    grid = Grid(num_points=256, num_steps=400)
    assert relative_l2(field(BURGERS, coefficient(BURGERS), grid), closed) < 1e-8


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


@pytest.mark.parametrize("pde", EQUATIONS)
def test_the_start_is_the_initial_state(pde: Pde) -> None:
    x = -1.0 + 2.0 * torch.arange(64, dtype=torch.float64) / 64
    found = fields(pde, coefficient(pde), SMALL, times=[0.0], places=x)[0]
    assert torch.allclose(found, pde.initial(x), atol=1e-12)


def test_observations_are_those_of_figure_e1() -> None:
    assert observed_indices(100, 8) == [11, 22, 33, 44, 55, 66, 77, 88]
    assert observed_indices(201, 8) == [22, 44, 66, 88, 111, 133, 155, 177]
    assert observed_indices(512, 8) == [56, 113, 170, 227, 283, 340, 397, 454]
    seen = observations(ALLEN_CAHN, 8)
    assert seen.values.shape == (8, 8) and seen.times[0] == pytest.approx(0.11)
    assert float(seen.places[0]) == pytest.approx(-1 + 2 * 22 / 200)
    with pytest.raises(SpecError, match="99 observations along an axis of 100: need 1 to 98"):
        observed_indices(100, 99)


@pytest.mark.parametrize("value", [0.0, -1e-3, 10.5, math.nan])
def test_a_coefficient_outside_the_stable_range_is_refused(value: float) -> None:
    nu = torch.tensor([0.1, value], dtype=torch.float64)
    with pytest.raises(SpecError, match=r"burgers: coefficient \S+ is outside .* \(0, 10\]"):
        solve(BURGERS, nu, SMALL, times=TIMES, places=PLACES)


def test_a_field_that_is_not_finite_is_told_with_its_coefficient_and_time() -> None:
    # Ten steps per unit of time for waves that need hundreds, but where they die at once.
    rough = replace(BURGERS, initial=lambda x: 30.0 * torch.sin(math.pi * x))
    nu = torch.tensor([10.0, 1e-3], dtype=torch.float64)
    with pytest.raises(RunError, match=r"coefficient 0\.001 is not finite from t = \d.* take more"):
        solve(rough, nu, Grid(num_points=64, num_steps=10), times=[0.1, 0.5, 1.0], places=PLACES)


def test_a_time_between_steps_an_unlike_grid_and_an_unknown_equation_are_refused() -> None:
    with pytest.raises(SpecError, match=r"t = 0\.11 lies between two of 50 steps"):
        field_at = Grid(num_points=16, num_steps=50)
        fields(BURGERS, coefficient(BURGERS), field_at, times=[0.11], places=PLACES)
    with pytest.raises(SpecError, match="an even number of points"):
        Grid(num_points=31, num_steps=10)
    with pytest.raises(SpecError, match=r"no equation 'burger'.*did you mean"):
        pde_named("burger")
