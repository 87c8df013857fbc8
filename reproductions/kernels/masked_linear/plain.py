"""A linear map of masked weights, in plain torch: what the kernels are held against."""

from __future__ import annotations

from functools import reduce

import torch
from torch import Tensor
from torch.nn import functional as F

from harness.errors import SpecError

BLOCK = 64
"""Rows and columns of a block of a mask; a kernel skips those that are empty."""


def live_blocks(mask_NK: Tensor) -> Tensor:
    """Return whether any weight of a block of BLOCK x BLOCK is kept, int8."""
    num_rows, num_columns = mask_NK.shape
    padded = F.pad(mask_NK, (0, -num_columns % BLOCK, 0, -num_rows % BLOCK))
    blocks = padded.view(padded.shape[0] // BLOCK, BLOCK, padded.shape[1] // BLOCK, BLOCK)
    return blocks.any(3).any(1).to(torch.int8)


def masked_linear(x_BK: Tensor, weight_NK: Tensor, mask_NK: Tensor) -> Tensor:
    """Return x (W * M)^T, shape (B, N). mask: bool, True where a weight is kept.

    Both derivatives follow: that by W is zero where it is pruned. Raises SpecError for shapes.
    """
    check(x_BK, weight_NK, mask_NK)
    # Chosen and not multiplied: a pruned weight may be NaN.
    return F.linear(x_BK, weight_NK.where(mask_NK, 0.0))


def gradients(
    x_BK: Tensor, weight_NK: Tensor, mask_NK: Tensor, grad_BN: Tensor
) -> tuple[Tensor, Tensor]:
    """Return gradients by x and by W of what has `grad` by x (W * M)^T; they are differentiable."""
    return grad_BN @ weight_NK.where(mask_NK, 0.0), (grad_BN.mT @ x_BK).where(mask_NK, 0.0)


def along(
    x_BK: Tensor, weight_NK: Tensor, mask_NK: Tensor, dx_BK: Tensor | None,
    dweight_NK: Tensor | None,
) -> Tensor:  # fmt: skip
    """Return the derivative of x (W * M)^T along tangents; one of them may be None, zero."""
    pairs = ((dx_BK, weight_NK), (x_BK, dweight_NK))
    terms = [masked_linear(x, w, mask_NK) for x, w in pairs if x is not None and w is not None]
    return reduce(torch.add, terms)


def check(x_BK: Tensor, weight_NK: Tensor, mask_NK: Tensor) -> None:
    """Raise SpecError for shapes that do not fit."""
    fits = x_BK.ndim == weight_NK.ndim == 2 and x_BK.shape[1] == weight_NK.shape[1]
    if not fits or mask_NK.shape != weight_NK.shape:
        raise SpecError(
            f"x of shape {tuple(x_BK.shape)}, weight {tuple(weight_NK.shape)}, mask"
            f" {tuple(mask_NK.shape)}: need (B, K), (N, K) and (N, K)"
        )
