"""Three equations in one space dimension, and their solution by Fourier series in time steps.

Burgers, Allen-Cahn and KdV as in Shen et al., arXiv 2406.14095, eqs. 46 to 48: x in [-1, 1], t from
0, one unknown coefficient nu. Pseudo-spectral in x, fourth-order Runge-Kutta with an integrating
factor in t (the linear part, stiff where nu is large, is solved exactly), double precision.
Letters: C coefficients, all in one solve; T times, X places; n grid points, F = n/2 + 1 modes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from harness.errors import RunError, SpecError, nearest

Function = Callable[[Tensor], Tensor]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pde:
    """u_t = L(nu) u + M g(u): L and M are diagonal in Fourier modes, g acts at points."""

    name: str
    equation: str
    initial: Function
    """u at t = 0, of x."""
    symbol: Callable[[Tensor, Tensor], Tensor]
    """L: of nu, shape (..., 1), and wave numbers, shape (F,)."""
    product: Function
    """g."""
    factor: Function
    """M: of wave numbers."""
    true_coefficient: float
    largest: float
    """Coefficients above it, or not above 0, are refused: the paper starts from none (F.3)."""
    data_grid: tuple[int, int] = (0, 0)
    """Places and times of the data that the paper fits; its times are `data_step` apart."""
    data_step: float = 0.01
    has_ends: bool = True
    """Whether both x = -1 and x = 1 are among the places of its data."""
    period: float = 2.0
    offset: float = 0.0
    """What is added to the series to get u."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Grid:
    """How finely an equation is solved."""

    num_points: int
    """Points of a period, n; two thirds of the modes take part in products."""
    num_steps: int
    """Time steps per unit of time."""

    def __post_init__(self) -> None:
        if self.num_points < 8 or self.num_points % 2 or self.num_steps < 1:
            raise SpecError(
                f"a grid of {self.num_points} points and {self.num_steps} steps: need an even"
                " number of points, at least 8, and at least one step"
            )


BURGERS = Pde(
    name="burgers",
    equation="u_t + u u_x - nu u_xx = 0",
    initial=lambda x: -torch.sin(math.pi * x),
    symbol=lambda nu, k: -(nu * k.square()),
    product=lambda u: u * u,
    factor=lambda k: -0.5j * k,
    true_coefficient=0.01 / math.pi,
    largest=10.0,
    data_grid=(256, 100),
)
ALLEN_CAHN = Pde(
    name="allen_cahn",
    equation="u_t - nu u_xx = 5 (u - u^3)",
    initial=lambda x: x.square() * torch.cos(math.pi * x),
    symbol=lambda nu, k: 5.0 - nu * k.square(),
    product=lambda u: u * u * u,
    factor=lambda k: torch.full_like(k, -5.0),
    true_coefficient=1e-3,
    largest=0.1,
    data_grid=(201, 101),
)
KDV = Pde(
    name="kdv",
    equation="u_t + u u_x + nu u_xxx = 0",
    initial=lambda x: torch.cos(math.pi * x),
    symbol=lambda nu, k: 1j * (nu * (k.square() * k)),
    product=lambda u: u * u,
    factor=lambda k: -0.5j * k,
    true_coefficient=2.5e-3,
    largest=0.01,
    data_grid=(512, 201),
    data_step=0.005,
    has_ends=False,
)
PDES = {pde.name: pde for pde in (BURGERS, ALLEN_CAHN, KDV)}


def pde_named(name: str) -> Pde:
    """Return an equation by its name. Raises SpecError for an unknown one."""
    if name not in PDES:
        raise SpecError(f"no equation {name!r}: one of {', '.join(PDES)}{nearest(name, PDES)}")
    return PDES[name]


def check_coefficient(pde: Pde, coefficient: Tensor) -> None:
    """Raise SpecError for a coefficient at which a solve is not stable, or is none of the paper's.

    Below 0 diffusion runs backwards, and any error of a fine mode grows without bound.
    """
    for value in coefficient.detach().double().flatten().tolist():
        if not 0.0 < value <= pde.largest:
            raise SpecError(
                f"{pde.name}: coefficient {value:g} is outside the solver's stable range"
                f" (0, {pde.largest:g}]: start from one inside, or take a smaller outer step"
            )


def solve(
    pde: Pde, coefficient: Tensor, grid: Grid, *, times: Sequence[float], places: Tensor
) -> Tensor:
    """Return u at some times and places, shape (..., T, X), for coefficients of shape (...).

    Raises SpecError for a coefficient outside the stable range or a time between two steps, and
    RunError for a field that is not finite, with its coefficient and time.
    """
    check_coefficient(pde, coefficient)
    found = fields(pde, coefficient, grid, times=times, places=places)
    check_field(pde, found, coefficient, grid, times)
    return found


def check_field(
    pde: Pde, field: Tensor, coefficient: Tensor, grid: Grid, times: Sequence[float]
) -> None:
    """Raise RunError where a field, shape (..., T, X), is not finite."""
    finite = torch.isfinite(field.detach()).all(-1).reshape(-1, len(times))
    values = coefficient.detach().flatten().tolist()
    for value, row in zip(values, finite.tolist(), strict=True):
        if not all(row):
            raise RunError(
                f"{pde.name}: the field of coefficient {value:g} is not finite from"
                f" t = {times[row.index(False)]:g} on, with {grid.num_points} points and"
                f" {grid.num_steps} steps per unit of time: take more steps"
            )


def fields(
    pde: Pde, coefficient: Tensor, grid: Grid, *, times: Sequence[float], places: Tensor
) -> Tensor:
    """Return the same unchecked, as torch.func's transforms need it: they cannot look at values."""
    nu = coefficient.to(torch.float64)
    wanted = [_step_at(time, grid) for time in times]
    basis_FX = _beside(_basis(pde, grid, places), nu)
    values, now = [], 0
    hat, advance = _stepper(pde, nu, grid)
    for step in wanted:
        for _ in range(step - now):
            hat = advance(hat)
        now = step
        values.append((hat @ basis_FX).real)
    return torch.stack(values, dim=-2) + pde.offset


def _step_at(time: float, grid: Grid) -> int:
    step = round(time * grid.num_steps)
    if abs(step - time * grid.num_steps) > 1e-6:
        raise SpecError(
            f"t = {time:g} lies between two of {grid.num_steps} steps per unit of time: take a"
            " number of steps that it is a multiple of"
        )
    return step


def _beside(constant: Tensor, nu: Tensor) -> Tensor:
    """Return a constant with a tangent, of zeros, where the coefficient has one.

    Where one factor lacks a tangent, torch works the product's out in Python, which takes some
    thirty times as long.
    """
    return constant + (nu - nu).sum()


def _wave_numbers(pde: Pde, grid: Grid) -> Tensor:
    return 2.0 * math.pi / pde.period * torch.arange(grid.num_points // 2 + 1, dtype=torch.float64)


def _basis(pde: Pde, grid: Grid, places: Tensor) -> Tensor:
    """Return what a real series is multiplied by for its values at places, shape (F, X)."""
    weights = torch.full((grid.num_points // 2 + 1, 1), 2.0, dtype=torch.float64)
    weights[0] = weights[-1] = 1.0
    phases = _wave_numbers(pde, grid)[:, None] * (places.double() + 1.0)
    return weights * torch.polar(torch.ones_like(phases), phases) / grid.num_points


def _stepper(pde: Pde, nu: Tensor, grid: Grid) -> tuple[Tensor, Function]:
    """Return the series at t = 0, and what advances one by a time step."""
    count, dt = grid.num_points, 1.0 / grid.num_steps
    k = _wave_numbers(pde, grid)
    kept = k < k[-1] * 2.0 / 3.0
    factor = _beside((pde.factor(k) * kept).to(torch.complex128), nu)
    half = torch.exp(0.5 * dt * pde.symbol(nu[..., None], k)).to(torch.complex128)
    whole = half * half
    third, sixth, middle, full = (
        _beside(torch.tensor([dt * share], dtype=torch.complex128), nu)
        for share in (1 / 3, 1 / 6, 1 / 2, 1.0)
    )

    def slope(hat: Tensor) -> Tensor:
        return factor * torch.fft.rfft(pde.product(torch.fft.irfft(hat, n=count)))

    def advance(hat: Tensor) -> Tensor:
        first, moved = slope(hat), half * hat
        second = slope(moved + middle * (half * first))
        later = slope(moved + middle * second)
        last = slope(half * (moved + full * later))
        return whole * (hat + sixth * first) + third * (half * (second + later)) + sixth * last

    x = -1.0 + pde.period * torch.arange(count, dtype=torch.float64) / count
    start = torch.fft.rfft(pde.initial(x) - pde.offset)
    return _beside(start, nu), advance
