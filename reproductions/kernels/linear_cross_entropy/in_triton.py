"""Cross-entropy of a linear head by Triton: logits of some rows at once, turned into their slope.

Products stay torch's own; what lies between them is one kernel. Both gradients are made on the
way, and a derivative along a tangent is their product with it: no logits are needed again, for
however many tangents. What is differentiated once more takes `plain`'s expressions for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd import Function, forward_ad

from harness.errors import SpecError
from reproductions.kernels.derivatives import (
    backward_is_differentiated,
    primal,
    tangent_is_differentiated,
    tangents_of_tangents,
)
from reproductions.kernels.device import on
from reproductions.kernels.linear_cross_entropy import plain
from reproductions.kernels.linear_cross_entropy.plain import IGNORED, ROWS_AT_ONCE, check
from reproductions.kernels.precision import wide

BLOCK = 4096
NUM_WARPS = 16


@triton.jit
def row_slope(  # type: ignore[no-untyped-def]
    logits, targets, losses, size, IGNORED: tl.constexpr, BLOCK: tl.constexpr
):
    """A row's loss, of which its logits become the derivative."""
    row = tl.program_id(0)
    target = tl.load(targets + row)
    logits += row.to(tl.int64) * size
    counts = target != IGNORED
    highest, total = -float("inf"), 0.0
    for start in range(0, size, BLOCK):
        at = start + tl.arange(0, BLOCK)
        part = tl.load(logits + at, at < size, -float("inf")).to(tl.float32)
        higher = tl.maximum(highest, tl.max(part))
        total = total * tl.exp(highest - higher) + tl.sum(tl.exp(part - higher))
        highest = higher
    of_target = tl.load(logits + tl.where(counts, target, 0)).to(tl.float32)
    # Other warps may write over the target's logit before this one has read it.
    tl.debug_barrier()
    tl.store(losses + row, tl.where(counts, highest + tl.log(total) - of_target, 0.0))
    weight = tl.where(counts, 1.0, 0.0)
    for start in range(0, size, BLOCK):
        at = start + tl.arange(0, BLOCK)
        part = tl.load(logits + at, at < size, -float("inf")).to(tl.float32)
        slope = tl.exp(part - highest) / total - tl.where(at == target, 1.0, 0.0)
        tl.store(logits + at, (weight * slope).to(logits.dtype.element_ty), at < size)


def linear_cross_entropy(
    x_BD: Tensor, weight_VD: Tensor, targets_B: Tensor, *, rows_at_once: int = ROWS_AT_ONCE
) -> Tensor:
    """Return the mean cross-entropy of `x @ weight.T` as `plain.linear_cross_entropy` does."""
    check(x_BD, weight_VD, targets_B, rows_at_once)
    trains = torch.is_grad_enabled() and weight_VD.requires_grad
    # A transform may ask for a gradient of it, or know a tangent.
    trains = trains or torch._C._are_functorch_transforms_active()
    trains = trains or forward_ad._current_level >= 0
    given = x_BD, weight_VD, targets_B.contiguous(), rows_at_once, trains
    loss, *_ = _LinearCrossEntropy.apply(*given)
    return loss


class _LinearCrossEntropy(Function):
    """The loss, and both gradients of the sum beside it, with what makes a mean of them.

    trains: whether one of the head may be asked for, which is a third of the products.

    They are scaled when they are asked for, by what is asked too: a mean over many rows may be
    below what float16 has, and one of a loss that was scaled up is not.
    """

    @staticmethod
    def forward(
        x_BD: Tensor, weight_VD: Tensor, targets_B: Tensor, rows_at_once: int, trains: bool
    ) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
        inside = (targets_B >= 0) & (targets_B < len(weight_VD)) | (targets_B == IGNORED)
        # As torch's own loss: on a GPU an assertion that nobody waits for.
        torch._assert_async(inside.all(), "a target is out of bounds: it is no row of the head")
        losses = torch.zeros(len(x_BD), device=x_BD.device)
        scale = 1.0 / (targets_B != IGNORED).sum().float()
        by_x = torch.empty_like(x_BD)
        by_weight = torch.zeros_like(wide(weight_VD)) if trains else None
        for start in range(0, len(x_BD), rows_at_once):
            rows = slice(start, start + rows_at_once)
            # What is not finite in a row that does not count must not reach the others.
            x = x_BD[rows].where((targets_B[rows] != IGNORED)[:, None], 0)
            logits = torch.mm(x, weight_VD.T, out=x.new_empty(len(x), len(weight_VD)))
            with on(x_BD.device):
                row_slope[(len(logits),)](
                    logits, targets_B[rows], losses[rows], len(weight_VD),
                    IGNORED=IGNORED, BLOCK=BLOCK, num_warps=NUM_WARPS,
                )  # fmt: skip
            torch.mm(logits, weight_VD, out=by_x[rows])
            if by_weight is not None:
                by_weight += logits.T @ x
        return losses.sum() * scale, by_x, by_weight, scale

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        *given, ctx.rows_at_once, _ = inputs
        ctx.mark_non_differentiable(*[each for each in output[1:] if each is not None])
        ctx.save_for_backward(*given, *output[1:])
        ctx.save_for_forward(*given, *output[1:])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, ...]:
        x_BD, weight_VD, targets_B, by_x, by_weight, scale = ctx.saved_tensors
        if backward_is_differentiated(x_BD, weight_VD, grads[0]):
            both = plain.gradients(
                x_BD, weight_VD, targets_B, grads[0], rows_at_once=ctx.rows_at_once
            )
            return *both, None, None, None
        asked = grads[0] * scale
        to_weight = None if by_weight is None else (asked * by_weight).to(by_x.dtype)
        return (asked * wide(by_x)).to(by_x.dtype), to_weight, None, None, None

    @staticmethod
    def vmap(info: Any, in_dims: Sequence[int | None], *args: Any) -> Any:
        # Tangents of many directions come by jvp; what they are tangents of is the same for all.
        if any(dim is not None for dim in in_dims):
            raise SpecError("several inputs at once under vmap: take linear_cross_entropy's plain")
        return _LinearCrossEntropy.apply(*args), (None, None, None, None)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> tuple[Tensor, None, None, None]:
        x_BD, weight_VD, targets_B, *both, scale = ctx.saved_tensors
        with tangents_of_tangents():
            if tangent_is_differentiated(x_BD, weight_VD):
                given = (primal(x_BD), primal(weight_VD), targets_B, *tangents[:2])
                return plain.along(*given, rows_at_once=ctx.rows_at_once), None, None, None
            pairs = [pair for pair in zip(tangents[:2], both, strict=True) if pair[0] is not None]
            along = [(wide(by) * wide(tangent)).sum() for tangent, by in pairs]
            return torch.stack(along).sum() * scale, None, None, None
