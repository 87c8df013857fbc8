"""Bi-level problems of a few variables in float64, on which phi acts in every way that it can, and
the rows that say how far apart two things are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, softplus

from harness.declare import Row
from reproductions.fg2u.method.optimizers import Adam, Optimizer, Sgd
from reproductions.fg2u.method.problem import Problem, from_loss
from reproductions.fg2u.method.trees import Tree, tree_leaves
from reproductions.fg2u.models.mlp import scores

NUM_EXAMPLES, NUM_INPUTS, NUM_HIDDEN, NUM_CLASSES = 8, 3, 4, 2
OptimizerName = Literal["SGD", "momentum", "Adam"]
Phi = dict[str, Tensor]
"""`weights` of the first examples, `rates` (log factors) of some steps, and a shift of the `start`:
any of them may be missing."""


def drawn(*shape: int, seed: int) -> Tensor:
    """Return normal numbers in float64."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def flat(tree: Tree) -> Tensor:
    """Return all entries of a tree as one vector."""
    return torch.cat([leaf.flatten() for leaf in tree_leaves(tree)])


def phi_of(*, weights: int = 0, rates: int = 0, start: int = 0) -> Phi:
    """Return a phi with so many entries of each kind."""
    sizes = {"weights": weights, "rates": rates, "start": start}
    return {
        name: 0.3 * drawn(size, seed=20 + number)
        for number, (name, size) in enumerate(sizes.items())
        if size
    }


def optimizer_of(name: OptimizerName, since: int = 0) -> Optimizer:
    """Return an inner optimizer whose steps from `since` on have phi's rates, while they last."""

    def rate(phi: Phi, number: int) -> Tensor | float:
        base, rates = (0.05 if name == "Adam" else 0.3), phi.get("rates")
        if rates is None or not 0 <= number - since < len(rates):
            return base
        return base * torch.exp(rates[number - since])

    match name:
        case "SGD":
            return Sgd(lr=rate)
        case "momentum":
            return Sgd(lr=rate, momentum=0.9)
        case "Adam":
            return Adam(lr=rate)


def examples(name: OptimizerName, *, num_steps: int, since: int = 0) -> Problem:
    """Return the training of a small net on weighted examples, judged on others.

    since: the first inner step that sees phi's weights and rates.
    """
    x, y = drawn(2 * NUM_EXAMPLES, NUM_INPUTS, seed=1), torch.arange(2 * NUM_EXAMPLES) % NUM_CLASSES
    init = [drawn(NUM_HIDDEN, NUM_INPUTS, seed=2), drawn(NUM_CLASSES, NUM_HIDDEN, seed=3)]

    def start(phi: Phi, batch: Any) -> list[Tensor]:
        if "start" not in phi:
            return init
        first, shift = init[0].flatten(), phi["start"]
        moved = torch.cat([first[: len(shift)] + shift, first[len(shift) :]])
        return [moved.reshape(init[0].shape), init[1]]

    def loss(theta: list[Tensor], phi: Phi, batch: Any, number: int) -> Tensor:
        if "weights" not in phi or number < since:
            return cross_entropy(scores(theta, x[:NUM_EXAMPLES]), y[:NUM_EXAMPLES])
        count = len(phi["weights"])
        losses = cross_entropy(scores(theta, x[:count]), y[:count], reduction="none")
        return (softplus(phi["weights"]) * losses).mean()

    def outer(theta: list[Tensor], phi: Phi, batch: Any) -> Tensor:
        held_out = cross_entropy(scores(theta, x[NUM_EXAMPLES:]), y[NUM_EXAMPLES:])
        # The weights alone: initial weights and rates then act through theta_T only.
        return held_out + 0.01 * phi["weights"].square().sum() if "weights" in phi else held_out

    return from_loss(
        start=start,
        loss=loss,
        outer_loss=outer,
        optimizer=optimizer_of(name, since),
        num_steps=num_steps,
    )


InnerLoss = Callable[[Tensor, Phi], Tensor]


def logistic(*, num_steps: int) -> tuple[Problem, InnerLoss]:
    """Return descent on a strongly convex loss of weighted examples, and that loss."""
    x, sign = drawn(NUM_EXAMPLES, NUM_INPUTS, seed=4), torch.arange(NUM_EXAMPLES) % 2 * 2.0 - 1.0

    def inner(theta: Tensor, phi: Phi) -> Tensor:
        count = len(phi["weights"])
        losses = softplus(-sign[:count] * (x[:count] @ theta))
        return (softplus(phi["weights"]) * losses).mean() + 0.1 * theta.square().sum()

    problem = from_loss(
        start=lambda phi, batch: torch.zeros(NUM_INPUTS, dtype=torch.float64),
        loss=lambda theta, phi, batch, number: inner(theta, phi),
        outer_loss=lambda theta, phi, batch: (
            0.5 * (theta - 1.0).square().sum() + 0.01 * phi["weights"].square().sum()
        ),
        optimizer=Sgd(lr=0.5),
        num_steps=num_steps,
    )
    return problem, inner


def images(*, num_steps: int) -> tuple[Problem, Tensor, list[Tensor]]:
    """Return the condensation of rows into as many rows by an MLP, phi, and initial weights."""
    width, num_rows, num_classes = 16, 16, 4
    sizes = ((width, width), (width, width), (num_classes, width))
    init = [drawn(*size, seed=5 + n) / width**0.5 for n, size in enumerate(sizes)]
    x, y = drawn(num_rows, width, seed=8), torch.arange(num_rows) % num_classes
    problem = from_loss(
        start=lambda phi, batch: init,
        loss=lambda theta, phi, batch, number: cross_entropy(scores(theta, phi), y),
        outer_loss=lambda theta, phi, batch: cross_entropy(scores(theta, x), y),
        optimizer=Sgd(lr=0.05, momentum=0.9),
        num_steps=num_steps,
    )
    return problem, drawn(num_rows, width, seed=9), init


DIGITS = 12
"""Decimals of a row: what is smaller is rounding, and another one on every machine."""


def row(
    check: str,
    setting: str,
    x: float = 0.0,
    *,
    difference: float | Tensor | None = None,
    ratio: float | Tensor | None = None,
    cosine: float | None = None,
    norm_ratio: float | None = None,
) -> Row:
    """Return a row; what does not belong to its check is left out."""
    values = {
        "difference": difference, "ratio": ratio, "cosine": cosine, "norm_ratio": norm_ratio
    }  # fmt: skip
    shown = {k: None if v is None else round(float(v), DIGITS) for k, v in values.items()}
    return {"check": check, "setting": setting, "x": float(x), **shown}


def relative(found: Tree, exact: Tree) -> float:
    """Return |found - exact| / |exact|, over all entries."""
    right = flat(exact)
    return float((flat(found) - right).norm() / right.norm())


def cosine(found: Tree, exact: Tree) -> float:
    """Return the cosine between two trees of one shape."""
    left, right = flat(found), flat(exact)
    return float(left @ right / (left.norm() * right.norm()))
