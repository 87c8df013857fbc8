"""The exact solutions as rows: fields, observed points, and what says that they are exact."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import torch

from harness.declare import Row, RunContext
from reproductions.fg2u.coefficients.experiment import Solutions
from reproductions.fg2u.models.exact import (
    FINE,
    data_axes,
    exact_solution,
    observations,
    refined,
    relative_l2,
)
from reproductions.fg2u.models.spectral import ALLEN_CAHN, BURGERS, KDV, PDES, Grid, Pde, fields

SIDE, DIGITS = 8, 12
"""Observations along an axis (Figure E.1), and decimals that are kept."""
FOURIER = Grid(num_points=512, num_steps=100)
"""Fine enough that what is left is the corner of a periodic Allen-Cahn."""


def solution_rows(params: Solutions, ctx: RunContext) -> list[Row]:
    """Return every equation's field on a coarse grid, its observations, and the facts."""
    rows: list[Row] = []
    for pde in PDES.values():
        times = [number / (params.rows - 1) for number in range(params.rows)]
        # No data reach the last time of Burgers, but the figure does.
        places = torch.linspace(-1.0, 1.0, params.columns, dtype=torch.float64)
        field = exact_solution(pde, times, places)
        rows += [
            row(pde, "field", t, float(x), float(u))
            for (t, x), u in zip(product(times, places), field.flatten(), strict=True)
        ]
        seen = observations(pde, SIDE)
        rows += [
            row(pde, "observed", t, float(x), float(u))
            for (t, x), u in zip(
                product(seen.times, seen.places), seen.values.flatten(), strict=True
            )
        ]
        rows += [row(pde, name, 0.0, 0.0, value) for name, value in facts(pde)]
    return rows


def row(pde: Pde, kind: str, t: float, x: float, value: float) -> Row:
    """Return a row, rounded: what is smaller is another one on every machine."""
    place = {"t": round(t, DIGITS), "x": round(x, DIGITS)}
    return {"pde": pde.name, "kind": kind, **place, "u": round(value, DIGITS)}


def facts(pde: Pde) -> Iterator[tuple[str, float]]:
    """Yield by name how far a solution is from what it must be."""
    times, places = data_axes(pde)
    exact, grid = exact_solution(pde, times, places), FINE[pde.name]
    if pde is BURGERS:
        yield "series_to_closed_form", relative_l2(refined(pde, times, places, grid), exact)
    else:
        finer = Grid(num_points=2 * grid.num_points, num_steps=2 * grid.num_steps)
        yield "refined", relative_l2(exact, refined(pde, times, places, finer))
    if pde.has_ends:
        walls = exact[:, [0, -1]] - pde.initial(places[[0, -1]])
        yield "walls", float(walls.abs().max())
    if pde is KDV:
        # Sums over a whole period are its integrals.
        for name, integrand in (("mass", exact), ("momentum", exact.square())):
            integral = integrand.mean(1)
            yield name, float((integral - integral[0]).abs().max())
    if pde is ALLEN_CAHN:
        nu = torch.tensor(pde.true_coefficient, dtype=torch.float64)
        periodic = fields(pde, nu, FOURIER, times=times, places=places)
        yield "periodic_to_walls", relative_l2(periodic, exact)
