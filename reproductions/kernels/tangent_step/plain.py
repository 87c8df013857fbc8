"""Inner steps together with tangents, in plain torch: what the kernels are held against.

Steps are those of (FG)2U's inner optimizers: SGD with heavy-ball momentum, and Adam with its
epsilon inside the root. Tangents go along b directions at once; that of the step size is one
number per direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from harness.errors import SpecError
from reproductions.kernels.precision import wide


class Sgd(NamedTuple):
    """m' = momentum m + g; p' = p - lr m'."""

    lr: float
    momentum: float = 0.0


class Adam(NamedTuple):
    """p' = p - lr (m' / rise) / sqrt(v' / spread + eps_root)."""

    lr: float
    beta1: float = 0.9
    beta2: float = 0.999
    eps_root: float = 1e-8
    step: int = 0
    """From 0."""

    @property
    def rise(self) -> float:
        return 1 - self.beta1 ** (self.step + 1)

    @property
    def spread(self) -> float:
        return 1 - self.beta2 ** (self.step + 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """What a step takes and gives; values of shape (N,), their tangents (b, N)."""

    value: Tensor
    first: Tensor
    """Momentum, or Adam's first moment."""
    second: Tensor | None = None
    """Adam's second moment."""

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Return value and slots, those that there are."""
        both = (self.value, self.first)
        return both if self.second is None else (*both, self.second)

    def wide(self) -> Point:
        """Return the same in float32, or as it is where it has more digits."""
        return point_of([wide(each) for each in self.tensors])

    def rounded(self, to: Point) -> Point:
        """Return the same in the types of another point."""
        pairs = zip(self.tensors, to.tensors, strict=True)
        return point_of([each.to(other.dtype) for each, other in pairs])


def point_of(tensors: Sequence[Tensor]) -> Point:
    """Return value and slots as a point."""
    value, first, *second = tensors
    return Point(value=value, first=first, second=second[0] if second else None)


@torch.no_grad()
def step(
    rule: Sgd | Adam, point: Point, grad_N: Tensor, along: Point, grad_BN: Tensor, lr_B: Tensor
) -> tuple[Point, Point]:
    """Return the point after a step, and its tangents; halves are stepped in float32.

    along, grad_BN, lr_B: tangents of the point, of the gradient and of the step size.
    Raises SpecError for shapes that do not fit.
    """
    check(rule, point, grad_N, along, grad_BN, lr_B)
    after, d_after = _stepped(
        rule, point.wide(), wide(grad_N), along.wide(), wide(grad_BN), wide(lr_B)[:, None]
    )
    return after.rounded(point), d_after.rounded(along)


def _stepped(
    rule: Sgd | Adam, point: Point, grad_N: Tensor, along: Point, grad_BN: Tensor, lr_B1: Tensor
) -> tuple[Point, Point]:
    if isinstance(rule, Sgd):
        first = rule.momentum * point.first + grad_N
        d_first = rule.momentum * along.first + grad_BN
        value = point.value - rule.lr * first
        d_value = along.value - rule.lr * d_first - lr_B1 * first
        return Point(value=value, first=first), Point(value=d_value, first=d_first)
    assert point.second is not None and along.second is not None
    beta1, beta2 = rule.beta1, rule.beta2
    first = beta1 * point.first + (1 - beta1) * grad_N
    second = beta2 * point.second + (1 - beta2) * grad_N * grad_N
    d_first = beta1 * along.first + (1 - beta1) * grad_BN
    d_second = beta2 * along.second + 2 * (1 - beta2) * grad_N * grad_BN
    inverse = (second / rule.spread + rule.eps_root).rsqrt()
    move = first / rule.rise * inverse
    d_move = d_first / rule.rise * inverse - 0.5 * move * inverse**2 * d_second / rule.spread
    return (
        Point(value=point.value - rule.lr * move, first=first, second=second),
        Point(value=along.value - rule.lr * d_move - lr_B1 * move, first=d_first, second=d_second),
    )


def check(
    rule: Sgd | Adam, point: Point, grad_N: Tensor, along: Point, grad_BN: Tensor, lr_B: Tensor
) -> None:
    """Raise SpecError where shapes or slots do not fit."""
    num_slots = 2 if isinstance(rule, Sgd) else 3
    if len(point.tensors) != num_slots or len(along.tensors) != num_slots:
        raise SpecError(f"{type(rule).__name__} keeps {num_slots - 1} slots: give as many of each")
    shape = (len(lr_B), *grad_N.shape)
    wrong = [
        tuple(each.shape)
        for each, wanted in [
            *((tensor, grad_N.shape) for tensor in point.tensors),
            *((tensor, shape) for tensor in (*along.tensors, grad_BN)),
        ]
        if each.shape != wanted
    ]
    if wrong or grad_N.ndim != 1:
        raise SpecError(f"shapes {wrong}: need (N,) = {tuple(grad_N.shape)} and (b, N) = {shape}")
