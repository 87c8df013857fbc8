"""Small bi-level problems in float64."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from reproductions.fg2u.method.optimizers import Optimizer, Rate
from reproductions.fg2u.method.problem import Problem, from_loss
from reproductions.fg2u.method.trees import Tree

NUM_INPUTS, NUM_HIDDEN, NUM_CLASSES, NUM_IMAGES = 6, 5, 3, 4


def net(weights: list[Tensor], x: Tensor) -> Tensor:
    """Return the scores of a small net."""
    return torch.tanh(x @ weights[0].T + weights[1]) @ weights[2].T + weights[3]


def drawn(*shape: int, seed: int = 0) -> Tensor:
    """Return normal numbers in float64."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def batch(seed: int = 0) -> dict[str, Any]:
    """Return initial weights, the images' labels and real data."""
    sizes = ((NUM_HIDDEN, NUM_INPUTS), (NUM_HIDDEN,), (NUM_CLASSES, NUM_HIDDEN), (NUM_CLASSES,))
    return {
        "init": [0.5 * drawn(*size, seed=10 * seed + n) for n, size in enumerate(sizes)],
        "labels": torch.arange(NUM_IMAGES) % NUM_CLASSES,
        "x": drawn(20, NUM_INPUTS, seed=10 * seed + 8),
        "y": torch.arange(20) % NUM_CLASSES,
    }


def images() -> Tree:
    """Return a phi of two leaves: images, and the logarithm of a step size."""
    return {
        "images": drawn(NUM_IMAGES, NUM_INPUTS, seed=7),
        "log_decay": torch.tensor([-5.0], dtype=torch.float64),
    }


def condensation(optimizer: Optimizer, *, num_steps: int = 6) -> Problem:
    """Return the problem of images that train a small net well; phi acts on both losses."""

    def start(phi: Tree, batch: Any) -> Tree:
        # The start depends on phi too.
        return [batch["init"][0] + 0.1 * phi["images"].mean(0), *batch["init"][1:]]

    def loss(weights: Tree, phi: Tree, batch: Any, number: int) -> Tensor:
        decay = torch.exp(phi["log_decay"]).sum() * sum(w.square().sum() for w in weights)
        return cross_entropy(net(weights, phi["images"]), batch["labels"]) + decay

    def outer(weights: Tree, phi: Tree, batch: Any) -> Tensor:
        fit = cross_entropy(net(weights, batch["x"]), batch["y"])
        return fit + 0.01 * phi["images"].square().sum()

    return from_loss(
        start=start, loss=loss, outer_loss=outer, optimizer=optimizer, num_steps=num_steps
    )


def quadratic(*, num_steps: int, lr: Rate = 0.1, num_entries: int = 5) -> tuple[Problem, Tensor]:
    """Return descent on (theta - B phi)^T H (theta - B phi) / 2, judged by |theta - 1|^2 / 2."""
    from reproductions.fg2u.method.optimizers import Sgd

    size = 4
    root = drawn(size, size, seed=1)
    hessian = root @ root.T / size + 0.5 * torch.eye(size, dtype=torch.float64)
    mixing = drawn(size, num_entries, seed=2)

    def loss(theta: Tensor, phi: Tensor, batch: Any, number: int) -> Tensor:
        gap = theta - mixing @ phi
        return 0.5 * gap @ hessian @ gap

    problem = from_loss(
        start=lambda phi, batch: torch.zeros(size, dtype=torch.float64),
        loss=loss,
        outer_loss=lambda theta, phi, batch: 0.5 * (theta - 1.0).square().sum(),
        optimizer=Sgd(lr=lr),
        num_steps=num_steps,
    )
    return problem, drawn(num_entries, seed=3)
