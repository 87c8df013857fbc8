"""Random signs by Triton: made in registers, summed or multiplied there, never written."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from reproductions.kernels.derivatives import refuse_derivatives
from reproductions.kernels.device import brought, on
from reproductions.kernels.rademacher.plain import TILE

NUM_WARPS = 4


@triton.jit
def _signs(words, bits):  # type: ignore[no-untyped-def]
    return 1.0 - 2.0 * ((words[None, :, None] >> bits) & 1).to(tl.float32)


@triton.jit
def _read(x_N, at, num_entries):  # type: ignore[no-untyped-def]
    return tl.load(x_N + at, at < num_entries, 0.0).to(tl.float32)


@triton.jit
def _write(out_N, at, numbers, num_entries):  # type: ignore[no-untyped-def]
    tl.store(out_N + at, numbers, at < num_entries)


@triton.jit
def pass_over(  # type: ignore[no-untyped-def]
    out_N, weights_C, x_N, partial_CT, numbers_C, seed, num_directions, num_entries,
    COMBINE: tl.constexpr, PROJECT: tl.constexpr,
):  # fmt: skip
    """A tile of entries against all directions: their weighted sum, and what x is along each.

    Numbers lie by group of bits, call and neighbour (see plain.py), shape (8, 32, 4), per word.
    partial_CT: a sum per direction and tile; they are added afterwards, in an order that is
    always the same, which atomic sums would not have.
    """
    tile, num_tiles = tl.program_id(0), tl.num_programs(0)
    group, thread = tl.arange(0, 8)[:, None, None], tl.arange(0, 32)
    neighbour = tl.arange(0, 4)[None, None, :]
    call, nothing = (tile * 32 + thread).to(tl.uint32), (thread * 0).to(tl.uint32)
    at = tile.to(tl.int64) * 4096 + 128 * group + 4 * thread[None, :, None] + neighbour
    bits = (4 * group + neighbour).to(tl.uint32)
    sum_0 = tl.zeros((8, 32, 4), tl.float32)
    sum_1, sum_2, sum_3 = sum_0, sum_0, sum_0
    if PROJECT:
        x_0, x_1 = _read(x_N, at, num_entries), _read(x_N, at + 1024, num_entries)
        x_2, x_3 = _read(x_N, at + 2048, num_entries), _read(x_N, at + 3072, num_entries)
    for i in range(num_directions):
        number = tl.load(numbers_C + i).to(tl.uint64)
        low = nothing + (number & 0xFFFFFFFF).to(tl.uint32)
        high = nothing + (number >> 32).to(tl.uint32)
        word_0, word_1, word_2, word_3 = tl.philox(seed, call, nothing, low, high)
        sign_0, sign_1 = _signs(word_0, bits), _signs(word_1, bits)
        sign_2, sign_3 = _signs(word_2, bits), _signs(word_3, bits)
        if COMBINE:
            weight = tl.load(weights_C + i)
            sum_0, sum_1 = sum_0 + weight * sign_0, sum_1 + weight * sign_1
            sum_2, sum_3 = sum_2 + weight * sign_2, sum_3 + weight * sign_3
        if PROJECT:
            along = sign_0 * x_0 + sign_1 * x_1 + sign_2 * x_2 + sign_3 * x_3
            tl.store(partial_CT + tl.cast(i, tl.int64) * num_tiles + tile, tl.sum(along))
    if COMBINE:
        _write(out_N, at, sum_0, num_entries)
        _write(out_N, at + 1024, sum_1, num_entries)
        _write(out_N, at + 2048, sum_2, num_entries)
        _write(out_N, at + 3072, sum_3, num_entries)


def combine(weights_C: Tensor, seed: int, numbers: Sequence[int], num_entries: int) -> Tensor:
    """Return sum_i w_i v_i as `plain.combine` does; no direction is ever stored."""
    return _pass(seed, numbers, num_entries, weights_C=weights_C)[0]


def project(x_N: Tensor, seed: int, numbers: Sequence[int]) -> Tensor:
    """Return v_i . x of each direction as `plain.project` does."""
    return _pass(seed, numbers, len(x_N), x_N=x_N)[1]


def combine_and_project(
    weights_C: Tensor, x_N: Tensor, seed: int, numbers: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Return both as `plain.combine_and_project` does, in one pass."""
    return _pass(seed, numbers, len(x_N), weights_C=weights_C, x_N=x_N)


def _pass(
    seed: int, numbers: Sequence[int], num_entries: int, *,
    weights_C: Tensor | None = None, x_N: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Go once over all entries: for their sums where there are weights, for products with x.

    Return both; what was not asked for is empty.
    """
    refuse_derivatives("rademacher", weights_C, x_N)
    there = x_N if weights_C is None else weights_C
    assert there is not None
    device, num_tiles = there.device, triton.cdiv(num_entries, TILE)
    out_N = torch.zeros(0 if weights_C is None else num_entries, device=device)
    partial_CT = torch.zeros(0 if x_N is None else len(numbers), num_tiles, device=device)
    numbers_C = brought(list(numbers), torch.int64, device)
    if num_entries:
        with on(device):
            pass_over[(num_tiles,)](
                out_N, None if weights_C is None else weights_C.float().contiguous(),
                None if x_N is None else x_N.contiguous(), partial_CT, numbers_C, seed,
                len(numbers), num_entries, COMBINE=weights_C is not None, PROJECT=x_N is not None,
                num_warps=NUM_WARPS,
            )  # fmt: skip
    return out_N, partial_CT.sum(1)
