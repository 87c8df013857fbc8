"""Inner steps together with tangents by Triton: the value is read once for all b of them."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from reproductions.kernels.derivatives import refuse_tangents
from reproductions.kernels.device import on
from reproductions.kernels.tangent_step.plain import Adam, Point, Sgd, check, point_of

BLOCK = 1024
NUM_WARPS = 4


@triton.jit
def step_sgd(  # type: ignore[no-untyped-def]
    value, first, grad, d_value, d_first, d_grad, d_lr,
    to_value, to_first, to_d_value, to_d_first, lr, momentum, size, num_directions,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """A block of entries, and its tangents one after another."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    slot = momentum * tl.load(first + at, inside, 0.0) + tl.load(grad + at, inside, 0.0)
    tl.store(to_value + at, tl.load(value + at, inside, 0.0) - lr * slot, inside)
    tl.store(to_first + at, slot, inside)
    for direction in range(num_directions):
        # Of all directions there may be more entries than 32 bits count.
        here = at + tl.cast(direction, tl.int64) * size
        along = momentum * tl.load(d_first + here, inside, 0.0)
        along += tl.load(d_grad + here, inside, 0.0)
        rate = tl.load(d_lr + direction)
        moved = tl.load(d_value + here, inside, 0.0) - lr * along - rate * slot
        tl.store(to_d_value + here, moved, inside)
        tl.store(to_d_first + here, along, inside)


@triton.jit
def step_adam(  # type: ignore[no-untyped-def]
    value, first, second, grad, d_value, d_first, d_second, d_grad, d_lr,
    to_value, to_first, to_second, to_d_value, to_d_first, to_d_second,
    lr, beta1, new1, beta2, new2, rise, spread, eps_root, size, num_directions,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """A block of entries, and its tangents one after another."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    slope = tl.load(grad + at, inside, 0.0)
    mean = beta1 * tl.load(first + at, inside, 0.0) + new1 * slope
    square = beta2 * tl.load(second + at, inside, 0.0) + new2 * slope * slope
    inverse = 1.0 / tl.sqrt(square / spread + eps_root)
    move = mean / rise * inverse
    tl.store(to_value + at, tl.load(value + at, inside, 0.0) - lr * move, inside)
    tl.store(to_first + at, mean, inside)
    tl.store(to_second + at, square, inside)
    for direction in range(num_directions):
        # Of all directions there may be more entries than 32 bits count.
        here = at + tl.cast(direction, tl.int64) * size
        along = tl.load(d_grad + here, inside, 0.0)
        d_mean = beta1 * tl.load(d_first + here, inside, 0.0) + new1 * along
        d_square = beta2 * tl.load(d_second + here, inside, 0.0) + 2.0 * new2 * slope * along
        d_move = d_mean / rise * inverse - 0.5 * move * inverse * inverse * d_square / spread
        rate = tl.load(d_lr + direction)
        moved = tl.load(d_value + here, inside, 0.0) - lr * d_move - rate * move
        tl.store(to_d_value + here, moved, inside)
        tl.store(to_d_first + here, d_mean, inside)
        tl.store(to_d_second + here, d_square, inside)


def step(
    rule: Sgd | Adam, point: Point, grad_N: Tensor, along: Point, grad_BN: Tensor, lr_B: Tensor
) -> tuple[Point, Point]:
    """Step as `plain.step` does, in one launch: in float32, rounded to the types given."""
    check(rule, point, grad_N, along, grad_BN, lr_B)
    given = (*point.tensors, grad_N, *along.tensors, grad_BN, lr_B)
    refuse_tangents("tangent_step", *given)
    given = tuple(each.float().contiguous() for each in given)
    # In rows whatever the order of memory that was given: kernels write so.
    after = [torch.empty(each.shape, dtype=each.dtype, device=each.device)
             for each in point.tensors]  # fmt: skip
    d_after = [torch.empty(each.shape, dtype=each.dtype, device=each.device)
               for each in along.tensors]  # fmt: skip
    size = len(grad_N)
    if size:
        grid = (triton.cdiv(size, BLOCK),)
        shape = {"size": size, "num_directions": len(lr_B), "BLOCK": BLOCK, "num_warps": NUM_WARPS}
        kernel, numbers = _told(rule)
        with on(grad_N.device):
            kernel[grid](*given, *after, *d_after, *numbers, **shape)
    return point_of(after), point_of(d_after)


def _told(rule: Sgd | Adam) -> tuple[Any, tuple[float, ...]]:
    """Return a rule's kernel and the numbers that it is told."""
    if isinstance(rule, Sgd):
        return step_sgd, (rule.lr, rule.momentum)
    # Less than one in float64: in float32 1 - 0.999 would be off by 5e-5 of itself.
    betas = (rule.beta1, 1 - rule.beta1, rule.beta2, 1 - rule.beta2)
    return step_adam, (rule.lr, *betas, rule.rise, rule.spread, rule.eps_root)
