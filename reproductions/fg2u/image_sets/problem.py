"""Data condensation with a ConvNet: the bi-level problem, its batches, and fresh nets' accuracy.

What the paper does not print is as in its released code: momentum 0.9, inner step sizes along a
cosine, weight decay in the inner loss alone, an outer Adam along a line, pixels in [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.func import grad as func_grad
from torch.nn.functional import cross_entropy
from torch.optim import Optimizer

from reproductions.fg2u.image_sets.data import Labelled
from reproductions.fg2u.image_sets.params import Condensation
from reproductions.fg2u.method.descent import MakeOptimizer, adam
from reproductions.fg2u.method.optimizers import Inner, Rate, Sgd
from reproductions.fg2u.method.problem import Problem, from_loss
from reproductions.fg2u.models.convnet import ConvNet
from reproductions.fg2u.models.mlp import Mlp

Weights = list[Tensor]
MOMENTUM = 0.9
DECAY = 1e-4
"""Times the squared norm of the weights, in the inner loss."""
TEST_ROWS = 1000
"""Real images whose scores are taken at a time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """What an estimate is fixed by: initial weights, and real images that judge the last ones."""

    init: Weights
    judge: Labelled


def net_of(params: Condensation) -> ConvNet | Mlp:
    """Return the net that images train."""
    if params.net == "mlp":
        pixels = params.channels * params.image_size**2
        hidden = params.num_blocks * (params.width,)
        return Mlp(sizes=(pixels, *hidden, params.num_classes))
    return ConvNet(
        width=params.width,
        num_blocks=params.num_blocks,
        image_size=params.image_size,
        channels=params.channels,
    )


def first_weights(params: Condensation, generator: torch.Generator) -> Weights:
    """Draw a net, with a score for each of the data set's classes."""
    net = net_of(params)
    if isinstance(net, Mlp):
        return [weight.to(params.device) for weight in net.drawn(generator)]
    *blocks, _, _ = net.drawn(generator)
    linear = torch.randn(params.num_classes, net.num_features, generator=generator)
    linear = linear * net.num_features**-0.5
    drawn = [*blocks, linear, torch.zeros(params.num_classes)]
    return [weight.to(params.device) for weight in drawn]


def cosine(lr: float, num_steps: int) -> Rate:
    """Return a step size that falls to 0 over so many steps, which the last does not reach."""
    return lambda phi, number: lr * 0.5 * (1.0 + math.cos(math.pi * number / num_steps))


def training_loss(params: Condensation, weights: Weights, images: Tensor, labels: Tensor) -> Tensor:
    """Return the mean cross entropy and the weight decay."""
    squares = torch.stack([weight.square().sum() for weight in weights]).sum()
    return cross_entropy(net_of(params).scores(weights, images), labels) + DECAY * squares


def condensation(params: Condensation, *, num_steps: int) -> Problem:
    """Return the problem whose phi are the images; image i is of class i % classes.

    num_steps: of the unroll, or of the nets that an evaluation trains. Smaller inner batches go
    through the images in turn.
    """
    net, size = net_of(params), params.inner_batch or params.num_images

    def loss(weights: Weights, phi: Tensor, batch: Given, number: int) -> Tensor:
        at = number * size % len(phi)
        labels = torch.arange(at, at + size, device=phi.device) % params.num_classes
        return training_loss(params, weights, phi[at : at + size], labels)

    def outer(weights: Weights, phi: Tensor, batch: Given) -> Tensor:
        return cross_entropy(net.scores(weights, batch.judge.images), batch.judge.labels)

    return from_loss(
        start=lambda phi, batch: batch.init,
        loss=loss,
        outer_loss=outer,
        optimizer=Sgd(lr=cosine(params.inner_lr, num_steps), momentum=MOMENTUM),
        num_steps=num_steps,
    )


def batches(
    params: Condensation, train: Labelled, init: torch.Generator, drawn: torch.Generator
) -> Iterator[Given]:
    """Yield a new net and new real images for each estimate."""
    while True:
        rows = torch.randperm(len(train.labels), generator=drawn)[: params.batch_size]
        judge = train.rows(rows).to(params.device)
        yield Given(init=first_weights(params, init), judge=judge)


def falling_adam(num_steps: int) -> MakeOptimizer:
    """Return Adam whose step size falls to 0 along a line, over so many steps."""

    def make(leaves: list[Tensor], lr: float) -> Optimizer:
        stepper = adam(leaves, lr)

        def lower(*_: Any) -> None:
            for group in stepper.param_groups:
                group["lr"] = max(0.0, group["lr"] - lr / num_steps)

        stepper.register_step_post_hook(lower)
        return stepper

    return make


def accuracies(
    params: Condensation, images: Tensor, test: Labelled, generator: torch.Generator
) -> list[float]:
    """Train fresh nets on the images, and return their shares of right test images."""
    problem, found = condensation(params, num_steps=params.test_steps), []
    with torch.no_grad():
        for _ in range(params.num_nets):
            given = Given(init=first_weights(params, generator), judge=test)
            state = problem.start(images, given)
            for number in range(params.test_steps):
                state = problem.step(state, images, given, number)
            found.append(right_share(params, state.params, test))
    return found


def right_share(params: Condensation, weights: Weights, test: Labelled) -> float:
    """Return the share of test images that a net reads right."""
    net, right = net_of(params), 0
    for at in range(0, len(test.labels), TEST_ROWS):
        part = test.rows(torch.arange(at, min(at + TEST_ROWS, len(test.labels))))
        part = part.to(params.device)
        right += int((net.scores(weights, part.images).argmax(1) == part.labels).sum())
    return right / len(test.labels)


def trained_on_all(
    params: Condensation, train: Labelled, init: torch.Generator, drawn: torch.Generator
) -> Weights:
    """Train a net on the whole set, by the SGD of inner steps on batches drawn anew."""
    optimizer = Sgd(lr=cosine(params.inner_lr, params.steps), momentum=MOMENTUM)
    weights = first_weights(params, init)
    state = Inner(weights, optimizer.start(weights))
    with torch.no_grad():
        for number in range(params.steps):
            rows = torch.randint(len(train.labels), (params.batch_size,), generator=drawn)
            part = train.rows(rows).to(params.device)
            slope = func_grad(
                lambda own, part=part: training_loss(params, own, part.images, part.labels)
            )(state.params)
            state = optimizer.update(slope, state, None, number)
    return list(state.params)
