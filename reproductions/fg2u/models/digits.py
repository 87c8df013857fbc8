"""Bi-level problems on digits in double precision: images of few pixels, and learned step sizes.

The inner net is smooth, so that differences along a direction have all their orders.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from reproductions.fg2u.method.optimizers import Sgd
from reproductions.fg2u.method.problem import Problem, from_loss
from reproductions.fg2u.models.condensation import judged
from reproductions.fg2u.models.mlp import Mlp, scores

WIDTH, NUM_CLASSES = 8, 10
NET = Mlp(sizes=(WIDTH * WIDTH, 16, NUM_CLASSES))
"""Pixels, hidden units, classes."""
LR, MOMENTUM = 0.05, 0.9
NUM_TRAINED, NUM_JUDGED = 64, 128
"""Real images of the inner loss, where it has some, and of the outer loss."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A problem with where it stands."""

    problem: Problem
    phi: Tensor
    batch: dict[str, Any]


def draw_batch(arrays: Mapping[str, np.ndarray], generator: torch.Generator) -> dict[str, Any]:
    """Return initial weights and two disjoint draws of real digits, in float64.

    arrays: of the digits, "x" of shape (count, 8, 8) up to 16, and "y".
    """
    count = NUM_TRAINED + NUM_JUDGED
    chosen = torch.randperm(len(arrays["y"]), generator=generator)[:count]
    pixels = torch.tensor(arrays["x"], dtype=torch.float64)[chosen] / 16.0
    classes = torch.tensor(arrays["y"], dtype=torch.int64)[chosen]
    return {
        "init": NET.drawn(generator, dtype=torch.float64),
        "x": pixels[:NUM_TRAINED],
        "y": classes[:NUM_TRAINED],
        "images": pixels[NUM_TRAINED:],
        "labels": classes[NUM_TRAINED:],
    }


def few_pixels(
    arrays: Mapping[str, np.ndarray], *, side: int, num_steps: int, seed: int
) -> Instance:
    """Return ten images of side x side pixels, one per class, that train a net on digits.

    They are enlarged to 8 x 8, so that their number of pixels is all that `side` changes.
    """
    generator = torch.Generator().manual_seed(seed)
    digit, repeats = torch.arange(NUM_CLASSES), WIDTH // side

    def loss(weights: list[Tensor], phi: Tensor, batch: dict[str, Any], number: int) -> Tensor:
        shape = (NUM_CLASSES, side, repeats, side, repeats)
        large = phi[:, :, None, :, None].expand(shape).reshape(NUM_CLASSES, WIDTH, WIDTH)
        return cross_entropy(scores(weights, large), digit)

    problem = from_loss(
        start=lambda phi, batch: batch["init"],
        loss=loss,
        outer_loss=judged,
        optimizer=Sgd(lr=LR, momentum=MOMENTUM),
        num_steps=num_steps,
    )
    batch = draw_batch(arrays, generator)
    shape = (NUM_CLASSES, side, side)
    return Instance(problem, torch.rand(shape, generator=generator, dtype=torch.float64), batch)


def learned_rates(
    arrays: Mapping[str, np.ndarray], *, num_meta: int, num_steps: int, seed: int
) -> Instance:
    """Return logarithms of step sizes, one for each of `num_meta` stretches of an inner run.

    The inner run is momentum descent on some real digits.
    """
    problem = from_loss(
        start=lambda phi, batch: batch["init"],
        loss=lambda weights, phi, batch, number: cross_entropy(
            scores(weights, batch["x"]), batch["y"]
        ),
        outer_loss=judged,
        optimizer=Sgd(
            lr=lambda phi, number: phi[number * num_meta // num_steps].exp(), momentum=MOMENTUM
        ),
        num_steps=num_steps,
    )
    batch = draw_batch(arrays, torch.Generator().manual_seed(seed))
    phi = torch.full((num_meta,), math.log(LR), dtype=torch.float64)
    return Instance(problem, phi, batch)
