"""Random signs and what is made of them, in plain torch: what the kernels are held against."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from reproductions.kernels.precision import wide
from reproductions.kernels.rademacher.layout import BITS, NEIGHBOURS, TILE, TILE_CALLS
from reproductions.kernels.rademacher.philox import philox, split


def signs(seed: int, numbers: Sequence[int], num_entries: int, device: torch.device) -> Tensor:
    """Return directions by their numbers, shape (C, N), float32."""
    num_tiles = -(-num_entries // TILE)
    calls = torch.arange(num_tiles * TILE_CALLS, device=device)
    nothing = torch.zeros_like(calls)
    rows = []
    for number in numbers:
        low, high = split(number)
        words = philox((calls, nothing, nothing + low, nothing + high), split(seed))
        by_call = torch.stack(words).view(4, num_tiles, 1, TILE_CALLS, 1)
        bits = torch.arange(BITS, device=device).view(1, 1, -1, 1, NEIGHBOURS)
        picked = (by_call >> bits & 1).transpose(0, 1).reshape(-1)[:num_entries]
        rows.append(1.0 - 2.0 * picked.float())
    return torch.stack(rows) if rows else torch.empty(0, num_entries, device=device)


def combine(weights_C: Tensor, seed: int, numbers: Sequence[int], num_entries: int) -> Tensor:
    """Return sum_i w_i v_i, shape (N,), summed in float32 at least in the order of the numbers."""
    weights_C = wide(weights_C)
    out_N = weights_C.new_zeros(num_entries)
    for weight, number in zip(weights_C, numbers, strict=True):
        out_N += weight * signs(seed, [number], num_entries, weights_C.device)[0]
    return out_N


def project(x_N: Tensor, seed: int, numbers: Sequence[int]) -> Tensor:
    """Return v_i . x of each direction, shape (C,), in float32 at least."""
    x_N = wide(x_N)
    found = [
        signs(seed, [number], len(x_N), x_N.device)[0].to(x_N.dtype) @ x_N for number in numbers
    ]
    return torch.stack(found) if found else x_N.new_empty(0)


def combine_and_project(
    weights_C: Tensor, x_N: Tensor, seed: int, numbers: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Return what `combine` and `project` return, shapes (N,) and (C,); directions are made once.

    weights_C: one per direction. x_N: as many entries as a direction has.
    Source: (FG)2U, arXiv 2406.14095, section 3.1, eqs. 8 and 9: a sum of directions, each times
    what a vector is along it. With the rows v_i of V these are the products V^T w and V x.
    """
    weights_C, x_N = wide(weights_C), wide(x_N)
    out_N, along_C = weights_C.new_zeros(len(x_N)), x_N.new_empty(len(numbers))
    for i, number in enumerate(numbers):
        row_N = signs(seed, [number], len(x_N), x_N.device)[0]
        out_N += weights_C[i] * row_N
        along_C[i] = row_N.to(x_N.dtype) @ x_N
    return out_N, along_C
