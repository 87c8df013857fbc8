"""From the parameters of a fit to its row: the coefficient that is found from observations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from harness.declare import Outcome, Row, RunContext, Status
from harness.errors import RunError
from reproductions.fg2u.coefficients.experiment import LEAST, Inverse
from reproductions.fg2u.method.descent import Phase, descend
from reproductions.fg2u.method.estimator import Estimator
from reproductions.fg2u.method.methods import hypergradient
from reproductions.fg2u.method.optimizers import Inner, Sgd
from reproductions.fg2u.method.problem import Problem, from_loss, from_solver
from reproductions.fg2u.models.draws import generator_of
from reproductions.fg2u.models.exact import (
    Observations,
    data_axes,
    exact_solution,
    observations,
    relative_l2,
)
from reproductions.fg2u.models.pinn import (
    Net,
    Points,
    drawn_points,
    residual_loss,
    solution,
)
from reproductions.fg2u.models.spectral import (
    Grid,
    Pde,
    check_coefficient,
    fields,
    pde_named,
    solve,
)

NUM_WALLS = 16
"""Times per inner step at which a net's conditions at the walls are asked."""
CENTRAL = "allen_cahn"
"""The equation for which the released code takes central differences."""


@dataclass(frozen=True, kw_only=True)
class Fit:
    """A bi-level problem, what draws its batches, and its solution at a coefficient."""

    problem: Problem
    batches: Iterator[Any]
    field: Callable[[Tensor], Tensor]
    """u on the data's grid, of phi."""


def inverse_rows(params: Inverse, ctx: RunContext) -> Outcome:
    """Descend to the coefficient, and compare it and its solution with the true ones."""
    pde = pde_named(params.pde)
    seen = noisy(observations(pde, params.side), params.noise, ctx.seed("noise"))
    fit = (
        with_net(params, pde, seen, ctx) if params.method == "pinn" else on_grid(params, pde, seen)
    )
    phi = initial(params, pde, ctx.seed("initial"))
    begun = {"initial": float(coefficient(params, phi))}
    generator = generator_of(ctx, "directions")
    phase = Phase(method=estimator(params), num_steps=params.outer_steps, lr=params.lr)
    taken = []
    try:
        for step in descend(fit.problem, phi, fit.batches, [phase], generator=generator):
            project(params, pde, phi)
            taken.append(step)
    except RunError as error:
        return Outcome(rows=[{**begun, **row_of(taken)}], status=Status.DIVERGED, note=str(error))
    return Outcome(rows=[{**begun, **row_of(taken), **judged(params, pde, fit, phi)}])


def row_of(taken: list[Any]) -> Row:
    """Return what was spent, and the misfit before the last step."""
    return {
        "taken_steps": len(taken),
        "misfit": taken[-1].outer_value if taken else None,
        "coefficient": None, "eps_phi": None, "eps_u": None, "solve_s": None,
        "total_s": sum(step.seconds for step in taken),
    }  # fmt: skip


def judged(params: Inverse, pde: Pde, fit: Fit, phi: Tensor) -> Row:
    """Return relative errors of the coefficient and of the solution on the data's grid."""
    found, true = float(coefficient(params, phi)), pde.true_coefficient
    batch = next(fit.batches)
    with torch.no_grad():
        start = time.perf_counter()
        fit.problem.unroll(phi, batch)
        seconds = time.perf_counter() - start
    return {
        "coefficient": found,
        "eps_phi": abs(found - true) / true,
        "eps_u": relative_l2(fit.field(phi).double(), exact_solution(pde, *data_axes(pde))),
        "solve_s": seconds,
    }


def coefficient(params: Inverse, phi: Tensor) -> Tensor:
    """Return the coefficient of what is descended in."""
    return phi * phi if params.learned == "root" else phi


def initial(params: Inverse, pde: Pde, seed: int) -> Tensor:
    """Draw where the descent starts: one number per seed, placed between the ends of a range."""
    share = np.random.default_rng(seed).random()
    if params.drawn == "log":
        value = params.low * (params.high / params.low) ** share
    else:
        value = params.low + (params.high - params.low) * share
    check_coefficient(pde, torch.tensor(value))
    phi = torch.tensor(value**0.5 if params.learned == "root" else value, dtype=torch.float64)
    return phi.float() if params.method == "pinn" else phi


def project(params: Inverse, pde: Pde, phi: Tensor) -> None:
    """Keep the coefficient within the solver's stable range."""
    power = 0.5 if params.learned == "root" else 1.0
    phi.clamp_(LEAST**power, pde.largest**power)


def noisy(seen: Observations, noise: float, seed: int) -> Observations:
    """Return observations with normal noise of a standard deviation."""
    if not noise:
        return seen
    generator = torch.Generator().manual_seed(seed)
    added = noise * torch.randn(seen.values.shape, generator=generator, dtype=torch.float64)
    return Observations(seen.times, seen.places, seen.values + added)


def estimator(params: Inverse) -> Estimator:
    """Return how the derivative is taken."""
    if params.method in ("exact", "pinn"):
        return hypergradient("fg2u", num_directions=1)
    if params.method == "single":
        return hypergradient("fg2u-zo", num_directions=1, mu=params.mu, scheme="forward")
    return hypergradient(
        "fg2u-zo", num_directions=1, chunk=12, directions="gauss-grid", mu=params.mu,
        scheme="central" if params.pde == CENTRAL else "forward", differences="result",
    )  # fmt: skip


def on_grid(params: Inverse, pde: Pde, seen: Observations) -> Fit:
    """Return the problem with the numerical solver inside."""
    grid = Grid(num_points=params.num_points, num_steps=params.num_steps)
    problem = from_solver(
        solve=lambda phi, batch: fields(
            pde, coefficient(params, phi), grid, times=seen.times, places=seen.places
        ),
        outer_loss=lambda field, phi, batch: (field - seen.values).square().mean(),
    )

    def field(phi: Tensor) -> Tensor:
        times, places = data_axes(pde)
        return solve(pde, coefficient(params, phi), grid, times=times, places=places)

    return Fit(problem=problem, batches=iter(lambda: {}, None), field=field)


def with_net(params: Inverse, pde: Pde, seen: Observations, ctx: RunContext) -> Fit:
    """Return the problem with the training of a net inside, which starts anew in every step.

    Each outer step draws its own points; the initial weights are one draw.
    """
    net = Net(num_layers=params.num_layers, width=params.width)
    init = net.drawn(generator_of(ctx, "weights"))
    generator = generator_of(ctx, "points")
    values = seen.values.float()

    def batches() -> Iterator[Mapping[str, Any]]:
        while True:
            shape = (params.inner_steps, params.batch_size)
            yield {"init": init, "points": drawn_points(pde, shape, NUM_WALLS, generator)}

    def loss(weights: list[Tensor], phi: Tensor, batch: Any, number: int) -> Tensor:
        points: Points = batch["points"].at(number)
        return residual_loss(pde, weights, coefficient(params, phi), points)

    problem = from_loss(
        start=lambda phi, batch: batch["init"],
        loss=loss,
        outer_loss=lambda weights, phi, batch: (
            (solution(pde, weights, seen.times, seen.places) - values).square().mean()
        ),
        # A step size with a tangent of zeros: as a plain number each product with it is slow.
        optimizer=Sgd(lr=lambda phi, number: params.inner_lr + (phi - phi)),
        num_steps=params.inner_steps,
    )

    def field(phi: Tensor) -> Tensor:
        with torch.no_grad():
            state: Inner = problem.unroll(phi, next(supply))[1]
        return solution(pde, state.params, *data_axes(pde))

    supply = batches()
    return Fit(problem=problem, batches=supply, field=field)
