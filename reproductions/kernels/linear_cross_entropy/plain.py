"""Cross-entropy of a linear head, by pieces of rows: all logits are never there at once.

Beside torch's own `linear_cross_entropy` and Liger's it has a derivative along tangents (jvp) and
a rule for vmap over them, which forward gradients take, and a second derivative.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from harness.errors import SpecError
from reproductions.kernels.backend import DTYPES
from reproductions.kernels.derivatives import primal, tangents_of_tangents
from reproductions.kernels.precision import wide

IGNORED = -100
ROWS_AT_ONCE = 1024


def linear_cross_entropy(
    x_BD: Tensor, weight_VD: Tensor, targets_B: Tensor, *, rows_at_once: int = ROWS_AT_ONCE
) -> Tensor:
    """Return the mean cross-entropy of `x @ weight.T`, a scalar in float32 at least.

    x_BD: (B, D); weight_VD: (V, D), of the same type. targets_B: (B,), int64; where one is -100
    its row does not count. NaN where no row counts, as torch has it.
    Raises SpecError for other shapes.
    """
    check(x_BD, weight_VD, targets_B, rows_at_once)
    loss: Tensor = _LinearCrossEntropy.apply(x_BD, weight_VD, targets_B, rows_at_once)
    return loss


class _LinearCrossEntropy(Function):
    """sum_b (logsumexp(W x_b) - w_{t_b} . x_b) / count."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x_BD: Tensor, weight_VD: Tensor, targets_B: Tensor, rows_at_once: int) -> Tensor:
        total = wide(x_BD).new_zeros(())
        for x, targets, counts in pieces(x_BD, targets_B, rows_at_once):
            logits = wide(x @ weight_VD.T)
            of_target = logits.gather(1, targets[:, None])[:, 0]
            total = total + ((logits.logsumexp(1) - of_target) * counts).sum()
        return total / (targets_B != IGNORED).sum()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x_BD, weight_VD, targets_B, ctx.rows_at_once = inputs
        ctx.save_for_backward(x_BD, weight_VD, targets_B)
        ctx.save_for_forward(x_BD, weight_VD, targets_B)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, ...]:
        x_BD, weight_VD, targets_B = ctx.saved_tensors
        both = gradients(x_BD, weight_VD, targets_B, grads[0], rows_at_once=ctx.rows_at_once)
        return *both, None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Tensor:
        x_BD, weight_VD, targets_B = ctx.saved_tensors
        with tangents_of_tangents():
            return along(
                primal(x_BD), primal(weight_VD), targets_B, *tangents[:2],
                rows_at_once=ctx.rows_at_once,
            )  # fmt: skip


def gradients(
    x_BD: Tensor, weight_VD: Tensor, targets_B: Tensor, grad: Tensor, *, rows_at_once: int
) -> tuple[Tensor, Tensor]:
    """Return both gradients of the loss times `grad`; they can be differentiated."""
    scale = grad / (targets_B != IGNORED).sum()
    by_x: list[Tensor] = []
    by_weight = torch.zeros_like(wide(weight_VD))
    for x, targets, counts in pieces(x_BD, targets_B, rows_at_once):
        by_logits = slope(wide(x @ weight_VD.T), targets, counts).to(x.dtype)
        # Scaled only now: before, float16 would lose most of it.
        by_x.append((wide(by_logits @ weight_VD) * scale).to(x.dtype))
        by_weight = by_weight + by_logits.T @ x
    return torch.cat(by_x), (by_weight * scale).to(weight_VD.dtype)


def along(
    x_BD: Tensor, weight_VD: Tensor, targets_B: Tensor, dx_BD: Tensor | None,
    dweight_VD: Tensor | None, *, rows_at_once: int,
) -> Tensor:  # fmt: skip
    """Return the derivative of the loss along tangents; None is zero. It can be differentiated."""
    dx_BD = torch.zeros_like(x_BD) if dx_BD is None else dx_BD
    dweight_VD = torch.zeros_like(weight_VD) if dweight_VD is None else dweight_VD
    total = wide(x_BD).new_zeros(())
    rows = pieces(x_BD, targets_B, rows_at_once)
    for (x, targets, counts), dx in zip(rows, dx_BD.split(rows_at_once), strict=True):
        by = wide(dx @ weight_VD.T + x @ dweight_VD.T)
        total = total + (slope(wide(x @ weight_VD.T), targets, counts) * by).sum()
    return total / (targets_B != IGNORED).sum()


def why_not(num_rows: int, weight_VD: Tensor) -> str:
    """Say why a loss of all logits is to be taken for so many rows; nothing if this one is.

    This one holds the head's gradient in float32 and as much again while that is scaled, 8 V D
    bytes, unless the head is frozen. That of all logits holds these, their softmax and its
    derivative, 8 to 14 bytes per row and V. Products are the same in both.
    """
    if weight_VD.requires_grad and num_rows < weight_VD.shape[1]:
        return "fewer rows than features: all logits take less memory than the head's gradient"
    return _why_not_weight(weight_VD)


def check(x_BD: Tensor, weight_VD: Tensor, targets_B: Tensor, rows_at_once: int) -> None:
    """Raise SpecError for shapes that do not fit."""
    if x_BD.ndim != 2 or weight_VD.ndim != 2 or x_BD.shape[1] != weight_VD.shape[1]:
        raise SpecError(
            f"x of shape {tuple(x_BD.shape)} and a head of {tuple(weight_VD.shape)}: give (B, D)"
            " and (V, D)"
        )
    if targets_B.shape != x_BD.shape[:1]:
        raise SpecError(f"targets of shape {tuple(targets_B.shape)}: give ({x_BD.shape[0]},)")
    if rows_at_once < 1:
        raise SpecError(f"rows_at_once={rows_at_once}: give at least one")


def pieces(
    x_BD: Tensor, targets_B: Tensor, rows_at_once: int
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield rows of x, a target that exists for each, and 1 where it counts.

    A row that does not count is zero: what is not finite in it must not reach the others.
    """
    for x, targets in zip(x_BD.split(rows_at_once), targets_B.split(rows_at_once), strict=True):
        counts = targets != IGNORED
        yield x.where(counts[:, None], 0), targets.where(counts, 0), counts.to(wide(x).dtype)


def slope(logits_BV: Tensor, targets_B: Tensor, counts_B: Tensor) -> Tensor:
    """Return the derivative of the sum of losses by the logits: softmax less one at the target."""
    ones = torch.ones_like(logits_BV[:, :1])
    return logits_BV.softmax(1).scatter_add(1, targets_B[:, None], -ones) * counts_B[:, None]


def _why_not_weight(weight_VD: Tensor) -> str:
    """Say why the kernel does not multiply this weight here and now; nothing if it does."""
    if weight_VD.dtype not in DTYPES:
        return str(weight_VD.dtype).removeprefix("torch.")
    if type(weight_VD) not in (Tensor, torch.nn.Parameter):
        return f"a {type(weight_VD).__name__} is no whole tensor"
    if torch.is_autocast_enabled(weight_VD.device.type):
        return "autocast, which a kernel does not follow"
    return ""
