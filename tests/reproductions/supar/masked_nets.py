"""Nets with masks, their training, and whether a net computes with its kept weights alone."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from reproductions.nets.gpt import draw_normal
from reproductions.supar import Rigl, UpdateSchedule, masked_layers, sparsify
from tests.reproductions.supar.small import zeros_under

HIDDEN = ("0", "2")
SCHEDULE = UpdateSchedule(num_steps=40, interval=4, end_step=30)


def mlp(width: int = 48) -> nn.Sequential:
    model = nn.Sequential(
        nn.Linear(10, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 3)
    )
    draw_normal(model, std=0.2, generator=torch.Generator().manual_seed(7))
    return model


def sparse_mlp(density: float = 0.25, *, seed: int = 0, width: int = 48) -> nn.Sequential:
    model = mlp(width)
    generator = torch.Generator().manual_seed(seed)
    sparsify(model, layers=HIDDEN, density=density, generator=generator)
    return model


def inputs_of(seed: int = 1) -> Tensor:
    return torch.randn(16, 10, generator=torch.Generator().manual_seed(seed))


def loss_of(model: nn.Module, inputs: Tensor) -> Tensor:
    return (model(inputs) - inputs[:, :3]).square().mean()


def train(model: nn.Module, optimizer: torch.optim.Optimizer, num_steps: int = 20) -> None:
    for step in range(num_steps):
        optimizer.zero_grad()
        loss_of(model, inputs_of(step)).backward()
        optimizer.step()


def adamw(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), lr=0.05, weight_decay=0.5)


def rigl(model: nn.Module, optimizer: torch.optim.Optimizer, **changed: Any) -> Rigl:
    given = {"schedule": SCHEDULE, "drop_fraction": 0.3, "regrown_moments": "zeroed", **changed}
    return Rigl(model=model, optimizer=optimizer, **given)


def zeros_under_masks(model: nn.Module) -> bool:
    return all(zeros_under(m.weight, m.weight_mask) for m in masked_layers(model).values())


def masks_of(model: nn.Module) -> dict[str, Tensor]:
    """Return the masks by the names of their weights."""
    return {f"{n}.weight": m.weight_mask.clone() for n, m in masked_layers(model).items()}


def kept_weights(model: nn.Module) -> dict[str, Tensor]:
    """Return parameters as they are stored, masked ones zeroed here."""
    masks = masks_of(model)
    return {
        name: torch.where(masks[name], value.detach(), 0.0) if name in masks else value.detach()
        for name, value in model.named_parameters()
    }


@torch.no_grad()
def leak(model: nn.Module, twin: nn.Module, *inputs: Tensor) -> float:
    """Return how far a net is from its dense twin that holds its kept weights, and no others."""
    twin.load_state_dict(kept_weights(model))
    twin.train(model.training)
    found, wanted = model(*inputs), twin(*inputs)
    first = [each[0] if isinstance(each, tuple) else each for each in (found, wanted)]
    return float((first[0] - first[1]).abs().max())
