"""Data condensation on digits: ten images, one per class, that train a fresh small net well."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from harness.declare import RunContext
from reproductions.fg2u.method.optimizers import Sgd
from reproductions.fg2u.method.problem import Problem, from_loss
from reproductions.fg2u.models.draws import generator_of
from reproductions.fg2u.models.mlp import Mlp, scores

Weights = list[Tensor]
NUM_DIGITS = 10
NET = Mlp(sizes=(64, 32, NUM_DIGITS))
"""Pixels, hidden units, digits."""
NUM_TRAIN = 1297
"""Digits of outer batches; the other 500 are for tests."""
LR, MOMENTUM = 0.05, 0.9
"""Of inner steps."""
IMAGES = "images.safetensors"
"""The artifact that holds condensed images, under `images`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Digits:
    """Images with pixels in [0, 1], and their digits."""

    images: Tensor
    labels: Tensor


def split_digits(ctx: RunContext) -> tuple[Digits, Digits]:
    """Return the digits of outer batches and those for tests, drawn by the seed."""
    arrays = ctx.dataset("digits").arrays
    order = torch.randperm(len(arrays["y"]), generator=generator_of(ctx, "split"))
    # A copy: torch warns of arrays that cannot be written to, as a data set is.
    images = torch.from_numpy(arrays["x"].astype("float64")).float() / 16.0
    labels = torch.from_numpy(arrays["y"].astype("int64"))
    train, test = (
        Digits(images=images[part], labels=labels[part])
        for part in (order[:NUM_TRAIN], order[NUM_TRAIN:])
    )
    return train, test


def outer_batches(ctx: RunContext, digits: Digits, size: int) -> Iterator[dict[str, Any]]:
    """Yield, for outer steps, new initial weights and real digits, each drawn anew."""
    init, drawn = generator_of(ctx, "init"), generator_of(ctx, "batches")
    while True:
        rows = torch.randperm(len(digits.labels), generator=drawn)[:size]
        yield {
            "init": NET.drawn(init),
            "images": digits.images[rows],
            "labels": digits.labels[rows],
        }


def inner_loss(weights: Weights, images: Tensor) -> Tensor:
    """Return the mean loss of a net on the ten images; the sum over several nets."""
    found = scores(weights, images)
    digit = torch.arange(NUM_DIGITS).repeat(math.prod(found.shape[:-2]))
    return cross_entropy(found.flatten(0, -2), digit, reduction="sum") / NUM_DIGITS


def judged(weights: Weights, phi: Any, batch: dict[str, Any]) -> Tensor:
    """Return the outer loss: the mean on real images, which the inner loss does not see."""
    return cross_entropy(scores(weights, batch["images"]), batch["labels"])


def condensation(num_steps: int) -> Problem:
    """Return the problem whose phi are the ten images."""
    return from_loss(
        start=lambda phi, batch: batch["init"],
        loss=lambda weights, phi, batch, number: inner_loss(weights, phi),
        outer_loss=judged,
        optimizer=Sgd(lr=LR, momentum=MOMENTUM),
        num_steps=num_steps,
    )


def example(num_steps: int = 30, seed: int = 0) -> tuple[Problem, Tensor, dict[str, Any]]:
    """Return a problem at hand: with noise images, and a batch of weights and real digits."""
    from harness.data.bundled import digits

    generator = torch.Generator().manual_seed(seed)
    real = digits()
    batch = {
        "init": NET.drawn(generator),
        "images": torch.from_numpy(real["x"][:512]).float() / 16.0,
        "labels": torch.from_numpy(real["y"][:512]).long(),
    }
    return condensation(num_steps), torch.rand(10, 8, 8, generator=generator), batch


def accuracies(images: Tensor, test: Digits, init: Weights, *, num_steps: int) -> Tensor:
    """Train nets on the images from these weights and return their shares of right digits."""
    problem = condensation(num_steps)
    with torch.no_grad():
        state = problem.start(images, {"init": init})
        for number in range(num_steps):
            state = problem.step(state, images, None, number)
        found = scores(state.params, test.images).argmax(-1)
    return (found == test.labels).to(torch.float64).mean(-1)
