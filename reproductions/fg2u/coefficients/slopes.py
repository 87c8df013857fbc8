"""The misfit's derivative by the coefficient: by differences, forward, and in reverse."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from harness.declare import Row, RunContext
from reproductions.fg2u.coefficients.experiment import CASES, Learned, Slopes
from reproductions.fg2u.method.directions import GRID_NODES
from reproductions.fg2u.method.estimator import Estimator
from reproductions.fg2u.method.methods import hypergradient
from reproductions.fg2u.method.problem import Problem, from_solver
from reproductions.fg2u.models.exact import observations
from reproductions.fg2u.models.spectral import PDES, Grid, Pde, fields

SIDE = 8
DIGITS = 12
"""Decimals of an error: what is smaller is rounding, another one on every machine."""
PAPERS = -4
"""Decimal exponent of the paper's step of differences."""
EXPONENTS = (-1, -2, PAPERS, -6, -8, -10)


def slope_rows(params: Slopes, ctx: RunContext) -> list[Row]:
    """Return every derivative's distance from the one in reverse, per equation."""
    rows: list[Row] = []
    for name, pde in PDES.items():
        learned = CASES[name].learned  # type: ignore[index]
        grid = Grid(num_points=params.num_points, num_steps=params.num_steps)
        problem = misfit(pde, learned, grid)
        value = params.factor * pde.true_coefficient
        phi = torch.tensor(value**0.5 if learned == "root" else value, dtype=torch.float64)
        exact = hypergradient("rgu")(problem, phi).grad
        for told, estimator in estimates():
            found = estimator(problem, phi, None, torch.Generator().manual_seed(0)).grad
            error = round(float(((found - exact) / exact).abs()), DIGITS)
            rows.append({"pde": name, **told, "slope_error": error})
    return rows


def estimates() -> Iterator[tuple[Row, Estimator]]:
    """Yield estimates with what tells them apart."""
    yield (
        row("fg2u", "none", 0.0, "rademacher", 1),
        hypergradient("fg2u", num_directions=1),
    )
    for scheme, exponents in (("forward", (PAPERS,)), ("central", EXPONENTS)):
        for mu in (10.0**exponent for exponent in exponents):
            yield (
                row("single", scheme, mu, "rademacher", 1),
                hypergradient("fg2u-zo", num_directions=1, mu=mu, scheme=scheme),
            )
    mu, count = 10.0**PAPERS, GRID_NODES
    yield (
        row("quadrature", "central", mu, "gauss-grid", count),
        hypergradient(
            "fg2u-zo", num_directions=1, chunk=count, directions="gauss-grid", mu=mu,
            scheme="central", differences="result",
        ),
    )  # fmt: skip


def row(method: str, scheme: str, mu: float, directions: str, count: int) -> Row:
    """Return what tells an estimate."""
    return {
        "method": method, "scheme": scheme, "mu": mu, "directions": directions,
        "num_directions": count,
    }  # fmt: skip


def misfit(pde: Pde, learned: Learned, grid: Grid) -> Problem:
    """Return the mean square misfit at the observations, of what is descended in."""
    seen = observations(pde, SIDE)

    def solve(phi: Tensor, batch: object) -> Tensor:
        nu = phi * phi if learned == "root" else phi
        return fields(pde, nu, grid, times=seen.times, places=seen.places)

    return from_solver(
        solve=solve,
        outer_loss=lambda field, phi, batch: (field - seen.values).square().mean(),
    )
