"""AdamW of masked weights in plain torch: what the kernels are held against.

Loshchilov, Hutter: "Decoupled weight decay regularization", ICLR 2019, algorithm 2. A masked entry
takes no part: its gradient counts as zero, and the weight is zero afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from harness.errors import SpecError

Decay = Literal["coupled", "independent"]
"""coupled: weights shrink by lr * weight_decay, as in torch; independent: by weight_decay."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AdamW:
    """Settings of a step. Raises SpecError for those that no optimizer has."""

    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0
    decay: Decay = "coupled"

    def __post_init__(self) -> None:
        if not all(0 <= beta < 1 for beta in self.betas):
            raise SpecError(f"betas={self.betas}: each lies from 0 up to, not at, 1")
        if self.eps < 0 or self.weight_decay < 0:
            raise SpecError(f"eps={self.eps}, weight_decay={self.weight_decay}: neither is below 0")
        if self.decay not in get_args(Decay):
            raise SpecError(f"decay={self.decay!r}: write one of {', '.join(get_args(Decay))}")

    def shrink(self, lr: float | Tensor, weight_decay: float | None = None) -> float | Tensor:
        """Return by which share a weight becomes smaller first. None: by the decay of all."""
        decay = self.weight_decay if weight_decay is None else weight_decay
        return decay * (lr if self.decay == "coupled" else 1.0)

    def corrections(self, step: int) -> tuple[float, float]:
        """Return what both moments have risen to by a step, from 1. Raises SpecError below it."""
        if step < 1:
            raise SpecError(f"step={step}: the first is 1")
        return 1 - self.betas[0] ** step, 1 - self.betas[1] ** step


@dataclass(frozen=True, kw_only=True, slots=True)
class Weight:
    """A tensor, its gradient, its states in place, and where it is not zero; all of one shape."""

    value: Tensor
    """float32, or bfloat16 with states in float32."""
    grad: Tensor
    mean: Tensor
    """First moment."""
    square: Tensor
    """Second moment."""
    mask: Tensor | None
    """bool, True where a weight is kept; None where all are."""
    lr: float | Tensor
    """A step size, or one per member of a stack of models: shape (M,), along the first axis; on a
    CPU, for a launch asks for the numbers."""
    weight_decay: float | None = None
    """None where it is that of all."""
    copy: Tensor | None = None
    """Where the new value goes too, in its type: what a sharded step sends."""

    @property
    def num_members(self) -> int:
        """Return how many models are stacked; 1 of what is no stack."""
        return len(self.lr) if isinstance(self.lr, Tensor) else 1


@torch.no_grad()
def step_(
    weights: Sequence[Weight], adamw: AdamW, step: int, *, norms: bool = True
) -> Tensor | None:
    """Take a step in place; return the norms of gradients and of new weights, shape (T, 2).

    step: its number, from 1, for the correction of both moments. norms: False where nobody asks.
    Norms are those of what is kept, of weights before they are rounded to their type.
    """
    rise, spread = adamw.corrections(step)
    found = []
    for weight in weights:
        grad, moved = _step_one(weight, adamw, rise, spread)
        if norms:
            found.append(torch.stack([grad.norm(), moved.norm()]))
    if not norms:
        return None
    return torch.stack(found) if found else torch.zeros(0, 2)


def _step_one(weight: Weight, adamw: AdamW, rise: float, spread: float) -> tuple[Tensor, Tensor]:
    """Step a weight; return its gradient and its new value where they are kept."""
    first, second = adamw.betas
    value, grad = weight.value.to(weight.mean.dtype), weight.grad.to(weight.mean.dtype)
    kept = torch.ones_like(value, dtype=torch.bool) if weight.mask is None else weight.mask
    grad = grad.where(kept, 0.0)
    weight.mean.lerp_(grad, 1 - first)
    weight.square.mul_(second).addcmul_(grad, grad, value=1 - second)
    lr = weight.lr
    if isinstance(lr, Tensor):
        lr = lr.to(value).view(-1, *[1] * (value.ndim - 1))
    shrink = adamw.shrink(lr, weight.weight_decay)
    root = (weight.square / spread).sqrt() + adamw.eps
    moved = (value * (1 - shrink) - lr * (weight.mean / rise) / root).where(kept, 0.0)
    weight.value.copy_(moved)
    if weight.copy is not None:
        weight.copy.copy_(moved)
    return grad, moved
