"""FedSign's penalty with its gradient by Triton: every entry is read once, in one pass."""

from __future__ import annotations

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


def add_fedsign_(
    grad_P: Tensor, theta_P: Tensor, received_P: Tensor, *, gamma: float, beta: float = 1.0
) -> Tensor:
    """Add the gradient as `plain.add_fedsign_` does, in one launch."""
    check(theta_P, received_P)
    check(theta_P, grad_P)
    refuse_tangents("sign_ops", grad_P, theta_P, received_P)
    sums = torch.zeros(triton.cdiv(len(theta_P), BLOCK), device=theta_P.device)
    in_order_P = grad_P.contiguous()
    if len(sums):
        with on(sums.device):
            fedsign_block[(len(sums),)](
                in_order_P, theta_P.contiguous(), received_P.contiguous(), sums, gamma, beta,
                len(theta_P), BLOCK=BLOCK, num_warps=NUM_WARPS,
            )  # fmt: skip
    if not grad_P.is_contiguous():
        grad_P.copy_(in_order_P)
    return -gamma * sums.double().sum()
