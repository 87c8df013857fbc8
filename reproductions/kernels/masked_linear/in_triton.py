"""A linear map of masked weights by Triton: W * M is never written, empty blocks are skipped.

What is differentiated once more, and derivatives along tangents, take `plain`'s expressions.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd import Function

from harness.errors import SpecError
from reproductions.kernels.derivatives import (
    backward_is_differentiated,
    primal,
    tangents_of_tangents,
)
from reproductions.kernels.device import on
from reproductions.kernels.masked_linear import plain
from reproductions.kernels.masked_linear.plain import BLOCK, check, live_blocks

INNER = 32
"""Numbers of a row of a factor that a step reads, of 16 bits each; of float32, which has not the
registers for as many, half of them: Triton 3.6 multiplies no fewer than 16."""
NUM_WARPS = 8
INTERPRETED = tl.constexpr(os.environ.get("TRITON_INTERPRET") == "1")
"""The interpreter takes products of bfloat16 for those of integers (triton-lang/triton #11584)."""


@triton.jit
def _tile(of, first, second, by_first, by_second, num_first, num_second):  # type: ignore[no-untyped-def]
    inside = (first[:, None] < num_first) & (second[None, :] < num_second)
    return tl.load(of + first[:, None] * by_first + second[None, :] * by_second, inside, 0)


@triton.jit
def product(  # type: ignore[no-untyped-def]
    a, b, mask, c, live, M, N, K,
    a_m, a_k, b_k, b_n, mask_first, mask_second, live_k, live_n,
    MASKS: tl.constexpr, BLOCK: tl.constexpr, INNER: tl.constexpr,
):  # fmt: skip
    """A block of C = A B. MASKS: "b" where the mask is on B, "c" where it is on the result.

    live: whether any weight of a block of the mask is kept; others are not read at all.
    """
    # C is written along its rows, one program per block; programs of a row lie side by side.
    block_m, block_n = tl.program_id(0), tl.program_id(1)
    m = block_m.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    n = block_n.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    type = a.dtype.element_ty
    factor = tl.float32 if INTERPRETED and type == tl.bfloat16 else type
    STEP: tl.constexpr = INNER if type.primitive_bitwidth == 16 else INNER // 2
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    needed = True
    if MASKS == "c":
        needed = tl.load(live + block_m * live_k + block_n * live_n) != 0
    if needed:
        for start in range(0, K, STEP):
            # A place times a stride may be more than 32 bits count.
            k = tl.cast(start, tl.int64) + tl.arange(0, STEP)
            here = True
            if MASKS == "b":
                here = tl.load(live + (start // BLOCK) * live_k + block_n * live_n) != 0
            if here:
                # Before the other factor, which would keep registers meanwhile.
                right = _tile(b, k, n, b_k, b_n, K, N).to(factor)
                if MASKS == "b":
                    kept = _tile(mask, k, n, mask_first, mask_second, K, N)
                    right = tl.where(kept != 0, right, 0.0)
                left = _tile(a, m, k, a_m, a_k, M, K).to(factor)
                total += tl.dot(left, right.to(factor), input_precision="ieee")
    if MASKS == "c":
        kept = _tile(mask, m, n, mask_first, mask_second, M, N)
        total = tl.where(kept != 0, total, 0.0)
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + m[:, None] * N + n[None, :], total.to(type), inside)


def multiply(a_MK: Tensor, b_KN: Tensor, mask: Tensor, live: Tensor, *, masks: str) -> Tensor:
    """Return A B, shape (M, N), with a mask on B or on the result; strides are as they come.

    live: (blocks of the mask's rows, blocks of its columns), in the mask's own orientation.
    """
    (num_rows, inner), num_columns = a_MK.shape, b_KN.shape[1]
    c_MN = a_MK.new_empty(num_rows, num_columns)
    if c_MN.numel():
        grid = (triton.cdiv(num_rows, BLOCK), triton.cdiv(num_columns, BLOCK))
        with on(a_MK.device):
            product[grid](
                a_MK, b_KN, mask.view(torch.int8), c_MN, live, num_rows, num_columns, inner,
                *a_MK.stride(), *b_KN.stride(), *mask.stride(), *live.stride(),
                MASKS=masks, BLOCK=BLOCK, INNER=INNER, num_warps=NUM_WARPS,
            )  # fmt: skip
    return c_MN


def masked_linear(
    x_BK: Tensor, weight_NK: Tensor, mask_NK: Tensor, live: Tensor | None = None
) -> Tensor:
    """Return x (W * M)^T as `plain.masked_linear` does.

    live: `live_blocks` of the mask, for who multiplies by one mask more than once.
    """
    check(x_BK, weight_NK, mask_NK)
    live = live_blocks(mask_NK) if live is None else live
    y_BN: Tensor = _MaskedLinear.apply(x_BK, weight_NK, mask_NK, live)
    return y_BN


class _MaskedLinear(Function):
    @staticmethod
    def forward(x_BK: Tensor, weight_NK: Tensor, mask_NK: Tensor, live: Tensor) -> Tensor:
        return multiply(x_BK, weight_NK.T, mask_NK.T, live.T, masks="b")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, ...]:
        x_BK, weight_NK, mask_NK, live = ctx.saved_tensors
        (grad_BN,) = grads
        if backward_is_differentiated(x_BK, weight_NK, grad_BN):
            return *plain.gradients(x_BK, weight_NK, mask_NK, grad_BN), None, None
        by_x = by_weight = None
        if ctx.needs_input_grad[0]:
            by_x = multiply(grad_BN, weight_NK, mask_NK, live, masks="b")
        if ctx.needs_input_grad[1]:
            by_weight = multiply(grad_BN.T, x_BK, mask_NK, live, masks="c")
        return by_x, by_weight, None, None

    @staticmethod
    def vmap(info: Any, in_dims: Sequence[int | None], *args: Any) -> Any:
        # Tangents and gradients of many directions; what they are of is the same for all.
        if any(dim is not None for dim in in_dims):
            raise SpecError("several inputs at once under vmap: take masked_linear's plain")
        return _MaskedLinear.apply(*args), None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Tensor:
        x_BK, weight_NK, mask_NK, _ = ctx.saved_tensors
        with tangents_of_tangents():
            return plain.along(primal(x_BK), primal(weight_NK), mask_NK, *tangents[:2])
