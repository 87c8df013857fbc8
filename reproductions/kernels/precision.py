"""How precise numbers are: what sums are made in, and one table of how much they may differ."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor

ROUNDING = {
    torch.float64: 2.0**-53,
    torch.float32: 2.0**-24,
    torch.float16: 2.0**-11,
    torch.bfloat16: 2.0**-8,
}
"""Largest relative error of one rounding to the nearest."""
STEPS = 8
"""Roundings that may add up in an entry beside those of its sum."""


def tolerance(dtype: torch.dtype, length: int = 1, *, size: float = 1.0) -> dict[str, float]:
    """Return what `assert_close` allows of a sum of `length` numbers as large as `size`.

    Errors of a sum in any order grow as the root of its length: their signs are mixed.
    """
    wide = torch.promote_types(dtype, torch.float32)
    relative = ROUNDING[dtype] + ROUNDING[wide] * STEPS * math.sqrt(length)
    return {"rtol": relative, "atol": relative * size}


def share_of_allowed(found: Tensor, wanted: Tensor, *, dtype: torch.dtype, length: int) -> float:
    """Return the largest difference as a share of what is allowed.

    Infinite where shapes, integers, or places of NaN and of either infinity differ. length: how
    many numbers the sums add. Of how large numbers they are, the largest one tells.
    """
    if found.shape != wanted.shape:
        return math.inf
    if not found.is_floating_point():
        return 0.0 if torch.equal(found, wanted) else math.inf
    one, other = found.double(), wanted.double()
    if not torch.equal(_kinds(one), _kinds(other)):
        return math.inf
    if not wanted.numel():
        return 0.0
    other = other.where(other.isfinite(), 0.0)
    difference = (one.where(one.isfinite(), 0.0) - other).abs()
    allowed = tolerance(dtype, length, size=float(other.abs().max()))
    share = difference / (allowed["atol"] + allowed["rtol"] * other.abs())
    # Nothing differs from zero where zero is wanted: no number, and no fault.
    return float(share.where(difference != 0, 0.0).max())


def _kinds(numbers: Tensor) -> Tensor:
    """Return 0 for numbers, and what tells NaN and both infinities apart."""
    return numbers.where(~numbers.isfinite(), 0.0).nan_to_num(1.0, 2.0, -2.0)


def wide(tensor: Tensor) -> Tensor:
    """Return numbers as float32, or as they are where they have more digits."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def apart(found: Iterable[Tensor], wanted: Iterable[Tensor]) -> float:
    """Return the norm of the difference of several tensors as a share of that of what is wanted.

    Infinite where all that is wanted is zero.
    """
    squares = [
        ((a - b).double().square().sum(), b.double().square().sum())
        for a, b in zip(found, wanted, strict=True)
    ]
    difference, size = (float(sum(each)) for each in zip(*squares, strict=True))
    return math.sqrt(difference / size) if size else math.inf
