"""Exact solutions, from which observations are taken and by which errors are judged.

Another method than the solver's own, where there is one: fitting a solver to its own output would
hide its error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from harness.errors import SpecError
from reproductions.fg2u.models.spectral import ALLEN_CAHN, Grid, Pde, fields

NUM_NODES = 100
"""Of Gauss-Hermite quadrature: the integrand is entire, and the error below rounding."""
FINE = {
    "burgers": Grid(num_points=1536, num_steps=600),
    "allen_cahn": Grid(num_points=1024, num_steps=400),
    "kdv": Grid(num_points=128, num_steps=1000),
}
"""Fine enough that doubling points and steps changes a solution by less than 1e-6 of its size."""


def _reflected(x: Tensor) -> Tensor:
    """Return the initial state, and beyond x = 1 what makes u + 1 odd about it."""
    within = x <= 1.0
    inside = ALLEN_CAHN.initial(torch.where(within, x, 2.0 - x))
    return torch.where(within, inside, -2.0 - inside)


WALLED = replace(
    ALLEN_CAHN,
    initial=_reflected,
    symbol=lambda nu, k: -10.0 - nu * k.square(),
    product=lambda v: 15.0 * v * v.abs() - 5.0 * v * v * v,
    factor=torch.ones_like,
    period=4.0,
    offset=-1.0,
)
"""Allen-Cahn with u(-1) = u(1) = -1 held, as eq. 47 asks: v = u + 1 is a sine series, so odd about
both walls. The Fourier solver is periodic on [-1, 1], where the initial state has a corner."""


def cole_hopf(nu: float, times: Sequence[float], places: Tensor) -> Tensor:
    """Return Burgers' solution from -sin(pi x), shape (T, X), by the Cole-Hopf transform.

    u = -int sin(pi (x - y)) w dy / int w dy, w = exp(-cos(pi (x - y)) / (2 pi nu) - y^2/(4 nu t)).
    """
    nodes, weights = np.polynomial.hermite.hermgauss(NUM_NODES)
    t = np.asarray(times, dtype="float64")[:, None, None]
    angle = math.pi * (places.double().numpy()[None, :, None] - np.sqrt(4.0 * nu * t) * nodes)
    exponent = -np.cos(angle) / (2.0 * math.pi * nu)
    mass = weights * np.exp(exponent - exponent.max(axis=-1, keepdims=True))
    return torch.from_numpy(-(np.sin(angle) * mass).sum(-1) / mass.sum(-1))


def exact_solution(pde: Pde, times: Sequence[float], places: Tensor) -> Tensor:
    """Return u at the true coefficient, shape (T, X)."""
    if pde.name == "burgers":
        return cole_hopf(pde.true_coefficient, times, places)
    return refined(pde, times, places, FINE[pde.name])


def refined(pde: Pde, times: Sequence[float], places: Tensor, grid: Grid) -> Tensor:
    """Return u by a series on a grid; Allen-Cahn's with its walls."""
    equation = WALLED if pde.name == "allen_cahn" else pde
    nu = torch.tensor(pde.true_coefficient, dtype=torch.float64)
    with torch.no_grad():
        return fields(equation, nu, grid, times=times, places=places)


def data_axes(pde: Pde) -> tuple[list[float], Tensor]:
    """Return times and places of the data that the paper fits."""
    num_places, num_times = pde.data_grid
    intervals = num_places - 1 if pde.has_ends else num_places
    places = -1.0 + 2.0 * torch.arange(num_places, dtype=torch.float64) / intervals
    return [number * pde.data_step for number in range(num_times)], places


def observed_indices(count: int, side: int) -> list[int]:
    """Return the inner `side` of `side` + 2 indices that are spread over an axis.

    The released code's rule, which Figure E.1 agrees with. Raises SpecError for more than fit.

    >>> observed_indices(256, 8)
    [28, 56, 85, 113, 141, 170, 198, 226]
    """
    if not 1 <= side <= count - 2:
        raise SpecError(
            f"{side} observations along an axis of {count}: need 1 to {count - 2} of them"
        )
    return [number * (count - 1) // (side + 1) for number in range(1, side + 1)]


@dataclass(frozen=True, slots=True)
class Observations:
    """The solution at a regular grid of points inside the domain."""

    times: list[float]
    places: Tensor
    values: Tensor
    """Shape (T, X)."""


def observations(pde: Pde, side: int) -> Observations:
    """Return side x side observations of the true solution."""
    times, places = data_axes(pde)
    chosen_t = [times[index] for index in observed_indices(len(times), side)]
    chosen_x = places[observed_indices(len(places), side)]
    return Observations(chosen_t, chosen_x, exact_solution(pde, chosen_t, chosen_x))


def relative_l2(found: Tensor, exact: Tensor) -> float:
    """Return |found - exact| / |exact|."""
    return float((found - exact).norm() / exact.norm())
