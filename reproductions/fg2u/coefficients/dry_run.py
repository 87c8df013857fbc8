"""What a trial's net takes, without computing it; numerical solvers train none."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from harness.declare import DryRun
from harness.measure.dry_step import dry_step
from reproductions.fg2u.coefficients.experiment import Forward, Inverse
from reproductions.fg2u.coefficients.forward import NUM_WALLS
from reproductions.fg2u.models.pinn import Net, Points, num_params, residual_loss
from reproductions.fg2u.models.spectral import Pde, pde_named


def of_forward(params: Forward) -> DryRun | None:
    """Count a training, or return None where a grid solves the equation."""
    if params.solver == "numerical":
        return None
    net = Net(num_layers=params.num_layers, width=params.width)
    return counted(pde_named("burgers"), net, params.batch_size, params.train_steps)


def of_inverse(params: Inverse) -> DryRun | None:
    """Count all inner steps of a fit, forward derivatives apart; None where a grid solves."""
    if params.method != "pinn":
        return None
    net = Net(num_layers=params.num_layers, width=params.width)
    steps = params.outer_steps * params.inner_steps
    return counted(pde_named(params.pde), net, params.batch_size, steps)


def counted(pde: Pde, net: Net, count: int, num_steps: int) -> DryRun:
    """Count a step of a net on a number of points."""

    def build() -> nn.ParameterList:
        return nn.ParameterList(net.drawn(torch.Generator()))

    def loss(model: nn.ParameterList) -> Callable[[], Tensor]:
        points = Points(torch.ones(count, 8), torch.ones(2 * NUM_WALLS, 3))
        return lambda: residual_loss(pde, list(model), torch.tensor(0.1), points)

    return dry_step(
        build(),
        build,
        optimizer=lambda model: torch.optim.SGD(model.parameters(), lr=1e-3),
        loss=loss,
        expected_num_params=num_params(net),
        num_steps=num_steps,
        copied=True,
    )
