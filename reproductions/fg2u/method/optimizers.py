"""Inner optimizers as pure functions, so that derivatives go through their states too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import NamedTuple, Protocol, TypeAlias

import torch
from torch import Tensor
from torch.utils._python_dispatch import _get_current_dispatch_mode

from harness.errors import SpecError
from reproductions.fg2u.method.trees import Tree, tree_map

Rate: TypeAlias = float | Callable[[Tree, int], Tensor | float]
"""Step size; as a function of phi and the number of the step (from 0) it can be learned."""


def _plus(one: Tensor, factor: Tensor | float, other: Tensor) -> Tensor:
    """Return one + factor * other.

    Under jvp torch works out a product with what has no tangent, be it a number, in Python: that
    takes ten times as long as the product itself, and an alpha does not. Under a dispatch mode, as
    a counter of bytes or FLOPs is, torch 2.13 ends in a segmentation fault where `other` has none.
    """
    if isinstance(factor, Tensor) or _get_current_dispatch_mode() is not None:
        return one + factor * other
    return torch.add(one, other, alpha=factor)


def _check_rate(lr: Rate) -> None:
    if not (callable(lr) or 0.0 < lr < inf):
        raise SpecError(f"lr={lr}: need a finite step size above 0, or a function of phi")


class Inner(NamedTuple):
    """State of an inner optimisation: both parts carry the derivative with respect to phi."""

    params: Tree
    slots: Tree
    """What the optimizer remembers, such as momentum; an empty tuple where it does not."""


class Optimizer(Protocol):
    """An inner optimizer."""

    @property
    def slots_matter(self) -> bool:
        """Whether the derivatives of an update depend on the values of its slots."""
        ...

    def start(self, params: Tree) -> Tree:
        """Return the slots before the first step."""
        ...

    def update(self, gradient: Tree, state: Inner, phi: Tree, number: int) -> Inner:
        """Return the state after step `number`, from 0."""
        ...

    def step_size(self, phi: Tree, number: int) -> Tensor | float:
        """Return the step size of step `number`."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Sgd:
    """Gradient descent with heavy-ball momentum, as `torch.optim.SGD` without dampening."""

    lr: Rate
    momentum: float = 0.0

    def __post_init__(self) -> None:
        _check_rate(self.lr)
        if not 0.0 <= self.momentum < 1.0:
            raise SpecError(f"momentum={self.momentum}: need 0 <= momentum < 1")

    @property
    def slots_matter(self) -> bool:
        # The update is linear in the momentum, but a rate that phi sets multiplies it.
        return callable(self.lr)

    def start(self, params: Tree) -> Tree:
        return tree_map(torch.zeros_like, params) if self.momentum else ()

    def update(self, gradient: Tree, state: Inner, phi: Tree, number: int) -> Inner:
        lr, slots = self.step_size(phi, number), state.slots
        if self.momentum:
            gradient = slots = tree_map(lambda m, g: _plus(g, self.momentum, m), slots, gradient)
        return Inner(tree_map(lambda p, g: _plus(p, -lr, g), state.params, gradient), slots)

    def step_size(self, phi: Tree, number: int) -> Tensor | float:
        return self.lr(phi, number) if callable(self.lr) else self.lr


@dataclass(frozen=True, kw_only=True, slots=True)
class Adam:
    """Adam with its epsilon inside the root.

    Outside of it, as in `torch.optim.Adam`, a gradient of exactly zero has an infinite derivative
    of the root, and every hypergradient is NaN (higher#125, torchopt#26, optax#882).
    """

    lr: Rate
    beta1: float = 0.9
    beta2: float = 0.999
    eps_root: float = 1e-8

    def __post_init__(self) -> None:
        _check_rate(self.lr)
        if not (0.0 <= self.beta1 < 1.0 and 0.0 <= self.beta2 < 1.0):
            raise SpecError(f"betas {self.beta1}, {self.beta2}: need 0 <= beta < 1")
        if not self.eps_root > 0.0:
            raise SpecError(f"eps_root={self.eps_root}: need > 0, or a zero gradient gives NaN")

    @property
    def slots_matter(self) -> bool:
        return True

    def start(self, params: Tree) -> Tree:
        return (tree_map(torch.zeros_like, params), tree_map(torch.zeros_like, params))

    def update(self, gradient: Tree, state: Inner, phi: Tree, number: int) -> Inner:
        lr, (first, second) = self.step_size(phi, number), state.slots
        first = tree_map(lambda m, g: self.beta1 * m + (1 - self.beta1) * g, first, gradient)
        second = tree_map(lambda v, g: self.beta2 * v + (1 - self.beta2) * g * g, second, gradient)
        rise, spread = 1 - self.beta1 ** (number + 1), 1 - self.beta2 ** (number + 1)
        params = tree_map(
            lambda p, m, v: p - lr * (m / rise) / (v / spread + self.eps_root).sqrt(),
            state.params,
            first,
            second,
        )
        return Inner(params, (first, second))

    def step_size(self, phi: Tree, number: int) -> Tensor | float:
        return self.lr(phi, number) if callable(self.lr) else self.lr
