"""From the parameters of a solution to its rows: its error, and the seconds that it took."""

from __future__ import annotations

import time
from collections.abc import Iterator

import torch
from torch import Tensor

from harness.declare import Outcome, Row, RunContext, Status
from harness.measure.machine import load_average
from reproductions.fg2u.coefficients.experiment import LOGGED, Forward
from reproductions.fg2u.models.draws import generator_of
from reproductions.fg2u.models.exact import data_axes, exact_solution, relative_l2
from reproductions.fg2u.models.pinn import (
    Net,
    Points,
    Weights,
    drawn_points,
    residual_loss,
    solution,
)
from reproductions.fg2u.models.spectral import BURGERS, Grid, solve

GRIDS = (
    Grid(num_points=64, num_steps=100),
    Grid(num_points=128, num_steps=100),
    Grid(num_points=256, num_steps=100),
    Grid(num_points=512, num_steps=200),
)
REPEATS = 5
DRAWN_AT_ONCE = 100
"""Steps whose points are drawn together; every logged step is a multiple of it."""
NUM_WALLS = 32
REACHED = 1e-2
"""Relative error at which a solution counts as found."""


def forward_rows(params: Forward, ctx: RunContext) -> Outcome:
    """Solve Burgers at its true coefficient."""
    exact = exact_solution(BURGERS, *data_axes(BURGERS))
    if params.solver == "numerical":
        return Outcome(rows=[numerical_row(grid, exact) for grid in GRIDS])
    load = load_average()
    rows: list[Row] = []
    for steps, error, seconds in trained(params, ctx, exact):
        if not error < float("inf"):
            note = f"the net's values are not finite after {steps} steps"
            return Outcome(rows=rows, status=Status.DIVERGED, note=note)
        rows.append(row(error, seconds, load, inner_steps=steps))
    return Outcome(rows=rows)


def row(
    error: float,
    seconds: float,
    load: float | None,
    *,
    inner_steps: int = 0,
    num_points: int = 0,
    num_steps: int = 0,
) -> Row:
    """Return a row of the left panel."""
    return {
        "inner_steps": inner_steps, "num_points": num_points, "num_steps": num_steps,
        "eps_u": error, "reached": error <= REACHED, "solve_s": seconds, "load_average": load,
    }  # fmt: skip


def numerical_row(grid: Grid, exact: Tensor) -> Row:
    """Solve on a grid, some times after a first one."""
    times, places = data_axes(BURGERS)
    nu = torch.tensor(BURGERS.true_coefficient, dtype=torch.float64)
    load, samples = load_average(), []
    for _ in range(1 + REPEATS):
        start = time.perf_counter()
        found = solve(BURGERS, nu, grid, times=times, places=places)
        samples.append(time.perf_counter() - start)
    seconds = sorted(samples[1:])[REPEATS // 2]
    return row(
        relative_l2(found, exact), seconds, load, num_points=grid.num_points,
        num_steps=grid.num_steps,
    )  # fmt: skip


def trained(params: Forward, ctx: RunContext, exact: Tensor) -> Iterator[tuple[int, float, float]]:
    """Train a net; yield steps so far, its error on the data's grid, seconds so far.

    Evaluations are not in the seconds; drawing points is.
    """
    device = torch.device(params.device)
    net = Net(num_layers=params.num_layers, width=params.width)
    init = net.drawn(generator_of(ctx, "weights"))
    weights = [leaf.to(device).requires_grad_() for leaf in init]
    kinds = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}
    optimizer = kinds[params.optimizer](weights, lr=params.lr)
    generator = generator_of(ctx, "points")
    seconds = 0.0
    for begin in range(0, params.train_steps, DRAWN_AT_ONCE):
        start = time.perf_counter()
        shape = (DRAWN_AT_ONCE, params.batch_size)
        points = drawn_points(BURGERS, shape, NUM_WALLS, generator).to(device)
        train(weights, optimizer, points)
        if params.device == "cuda":
            torch.cuda.synchronize()
        seconds += time.perf_counter() - start
        if begin + DRAWN_AT_ONCE in LOGGED:
            with torch.no_grad():
                found = solution(BURGERS, [w.cpu() for w in weights], *data_axes(BURGERS))
            yield begin + DRAWN_AT_ONCE, relative_l2(found.double(), exact), seconds


def train(weights: Weights, optimizer: torch.optim.Optimizer, points: Points) -> None:
    """Take a step on each set of points."""
    nu = torch.tensor(BURGERS.true_coefficient).to(weights[0])
    for number in range(len(points.inside)):
        optimizer.zero_grad(set_to_none=True)
        residual_loss(BURGERS, weights, nu, points.at(number)).backward()
        optimizer.step()
