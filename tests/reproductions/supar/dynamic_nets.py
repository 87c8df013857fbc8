"""A small masked net, its training step by step, and what the tests of dynamic masks ask of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from reproductions.supar.method.density import Density
from reproductions.supar.method.dynamic import (
    Gmp,
    RegrownMoments,
    Rigl,
    UpdateSchedule,
    attach_full_masks,
)
from reproductions.supar.method.masks import masked_layers, sparsify
from tests.reproductions.supar import masked_nets
from tests.reproductions.supar.masked_nets import HIDDEN, inputs_of, loss_of
from tests.reproductions.supar.small import zeros_under

SCHEDULE = UpdateSchedule(num_steps=40, interval=4, end_step=30)
MakeOptimizer = Callable[[nn.Module], torch.optim.Optimizer]


def unmasked() -> nn.Sequential:
    """Return a net of two hidden matrices, 24 x 10 and 24 x 24."""
    return masked_nets.mlp(24)


def mlp(*, density: float) -> nn.Sequential:
    """Return a net with masks on its first two matrices, full ones at density 1."""
    model = unmasked()
    if density == 1.0:
        attach_full_masks(model, HIDDEN)
    else:
        masks = torch.Generator().manual_seed(3)
        sparsify(model, layers=HIDDEN, density=density, generator=masks)
    return model


def adamw(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.5)


def amsgrad(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=0.1, amsgrad=True)


def sgd(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(
        model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.1
    )


def rigl(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    *,
    schedule: UpdateSchedule = SCHEDULE,
    drop_fraction: float = 0.3,
    regrown_moments: RegrownMoments = "zeroed",
) -> Rigl:
    return Rigl(
        model=model,
        optimizer=optimizer,
        schedule=schedule,
        drop_fraction=drop_fraction,
        regrown_moments=regrown_moments,
    )


def gmp(model: nn.Module, optimizer: torch.optim.Optimizer, *, density: Density = 0.1) -> Gmp:
    return Gmp(model=model, optimizer=optimizer, schedule=SCHEDULE, density=density)


def steps_of(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    topology: Rigl | Gmp,
    *,
    first: int = 0,
    last: int = SCHEDULE.num_steps,
) -> Iterator[tuple[int, bool]]:
    """Train, and stop after every step; yield its number, and whether the optimizer took it."""
    for number in range(first, last):
        with topology.backward(number):
            loss_of(model, inputs_of(number)).backward()
        stepped = topology.update(number)
        if stepped:
            optimizer.step()
        optimizer.zero_grad()
        yield number, stepped


def masks_of(model: nn.Module) -> dict[str, Tensor]:
    return {name: layer.weight_mask.clone() for name, layer in masked_layers(model).items()}


def counts_of(model: nn.Module) -> dict[str, int]:
    return {name: int(mask.sum()) for name, mask in masks_of(model).items()}


def zeros_under_masks(model: nn.Module) -> bool:
    return all(zeros_under(m.weight, m.weight_mask) for m in masked_layers(model).values())
