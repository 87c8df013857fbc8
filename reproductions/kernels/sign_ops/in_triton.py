"""Steps and counts by signs by Triton: what is read is read once, and so is what is written."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from reproductions.kernels.derivatives import refuse_tangents
from reproductions.kernels.device import on
from reproductions.kernels.sign_ops.plain import check

BLOCK = 2048
NUM_WARPS = 8


@triton.jit
def perturb_block(  # type: ignore[no-untyped-def]
    theta, noise, target, squares, scale, size, BLOCK: tl.constexpr
):
    """A block of entries, and the squares of theta and of what is added to it, summed."""
    block = tl.program_id(0)
    at = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    weight = tl.load(theta + at, inside, 0.0).to(tl.float32)
    length = scale * tl.abs(tl.load(noise + at, inside, 0.0).to(tl.float32))
    move = tl.where(weight > 0.0, length, -length)
    tl.store(target + at, (weight + move).to(target.dtype.element_ty), inside)
    tl.store(squares + block * 2, tl.sum(weight * weight))
    tl.store(squares + block * 2 + 1, tl.sum(move * move))


@triton.jit
def count_block(  # type: ignore[no-untyped-def]
    first, second, counts, size, BLOCK: tl.constexpr
):
    """How many entries of a block have one sign in both."""
    block = tl.program_id(0)
    at = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    one = tl.load(first + at, inside, 0.0).to(tl.float32)
    other = tl.load(second + at, inside, 0.0).to(tl.float32)
    same = ((one > 0.0) & (other > 0.0)) | ((one < 0.0) & (other < 0.0))
    tl.store(counts + block, tl.sum(same.to(tl.int32)))


@triton.jit
def fedsign_block(  # type: ignore[no-untyped-def]
    grad, theta, received, sums, gamma, beta, size, BLOCK: tl.constexpr
):
    """Add a block's gradient; leave the sum of what counts as kept."""
    block = tl.program_id(0)
    at = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    before = tl.load(received + at, inside, 0.0).to(tl.float32)
    weight = tl.load(theta + at, inside, 0.0).to(tl.float32)
    sign = tl.where(before > 0.0, 1.0, tl.where(before < 0.0, -1.0, 0.0))
    # A product and no choice: where there is no sign NaN among the weights is told all the same.
    kept = tl.sigmoid(beta * sign * weight) * tl.abs(sign)
    old = tl.load(grad + at, inside, 0.0).to(tl.float32)
    new = old - gamma * beta * sign * kept * (1.0 - kept)
    tl.store(grad + at, new.to(grad.dtype.element_ty), inside)
    tl.store(sums + block, tl.sum(kept))


def perturb(theta_P: Tensor, noise_P: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Perturb as `plain.perturb` does, in one launch."""
    check(theta_P, noise_P)
    refuse_tangents("sign_ops", theta_P, noise_P)
    target_P = torch.empty_like(theta_P)
    squares = torch.zeros(triton.cdiv(len(theta_P), BLOCK), 2, device=theta_P.device)
    _launch(perturb_block, squares, theta_P.contiguous(), noise_P.contiguous(), target_P, squares,
            scale, len(theta_P))  # fmt: skip
    return target_P, squares.double().sum(0).sqrt()


def count_same_signs(first_P: Tensor, second_P: Tensor) -> Tensor:
    """Count as `plain.count_same_signs` does, in one launch."""
    check(first_P, second_P)
    num_blocks = triton.cdiv(len(first_P), BLOCK)
    counts = torch.zeros(num_blocks, dtype=torch.int32, device=first_P.device)
    _launch(count_block, counts, first_P.contiguous(), second_P.contiguous(), counts, len(first_P))
    return counts.sum()


def add_fedsign_(
    grad_P: Tensor, theta_P: Tensor, received_P: Tensor, *, gamma: float, beta: float = 1.0
) -> Tensor:
    """Add the gradient as `plain.add_fedsign_` does, in one launch."""
    check(theta_P, received_P)
    check(theta_P, grad_P)
    refuse_tangents("sign_ops", grad_P, theta_P, received_P)
    sums = torch.zeros(triton.cdiv(len(theta_P), BLOCK), device=theta_P.device)
    in_order_P = grad_P.contiguous()
    _launch(fedsign_block, sums, in_order_P, theta_P.contiguous(), received_P.contiguous(), sums,
            gamma, beta, len(theta_P))  # fmt: skip
    if not grad_P.is_contiguous():
        grad_P.copy_(in_order_P)
    return -gamma * sums.double().sum()


def _launch(kernel: Any, by_block: Tensor, *given: object) -> None:
    """Launch a program per row of what blocks leave."""
    if len(by_block):
        with on(by_block.device):
            kernel[(len(by_block),)](*given, BLOCK=BLOCK, num_warps=NUM_WARPS)
