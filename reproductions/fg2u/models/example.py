"""A bi-level problem at hand: ten images that train a small net to read digits."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from reproductions.fg2u.method.optimizers import Sgd
from reproductions.fg2u.method.problem import Problem, from_loss
from reproductions.fg2u.models.mlp import Mlp, scores

NET = Mlp(sizes=(64, 32, 10))
"""Pixels, hidden units, digits."""


def example(num_steps: int = 30, seed: int = 0) -> tuple[Problem, Tensor, dict[str, Any]]:
    """Return the problem, noise images as phi, and a batch of initial weights and real digits."""
    from harness.data.bundled import digits

    generator = torch.Generator().manual_seed(seed)
    real = digits()
    batch = {
        "init": NET.drawn(generator),
        "images": torch.from_numpy(real["x"][:512]).float() / 16.0,
        "labels": torch.from_numpy(real["y"][:512]).long(),
    }
    digit = torch.arange(10)
    problem = from_loss(
        start=lambda phi, batch: batch["init"],
        loss=lambda weights, phi, batch, number: cross_entropy(scores(weights, phi), digit),
        outer_loss=lambda weights, phi, batch: cross_entropy(
            scores(weights, batch["images"]), batch["labels"]
        ),
        optimizer=Sgd(lr=0.05, momentum=0.9),
        num_steps=num_steps,
    )
    return problem, torch.rand(10, 8, 8, generator=generator), batch
