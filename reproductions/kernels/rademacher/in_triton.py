"""Random signs by Triton: made in registers, summed or multiplied there, never written."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _signs(words, bits):  # type: ignore[no-untyped-def]
    return 1.0 - 2.0 * ((words[:, None] >> bits[None, :]) & 1).to(tl.float32)


@triton.jit
def pass_over(  # type: ignore[no-untyped-def]
    out_N, weights_C, x_N, partial_CT, numbers_C, seed, num_directions, num_entries,
    COMBINE: tl.constexpr, PROJECT: tl.constexpr,
):  # fmt: skip
    """A tile of entries against all directions: their weighted sum, and what x is along each.

    partial_CT: a sum per direction and tile; they are added afterwards, in an order that is
    always the same, which atomic sums would not have.
    """
    tile = tl.program_id(0)
    num_tiles = tl.num_programs(0)
    thread = tl.arange(0, 32)
    bits = tl.arange(0, 32)
    call = (tile * 32 + thread).to(tl.uint32)
    nothing = call * 0
    at = tile.to(tl.int64) * 4096 + thread[:, None] + 32 * bits[None, :]
    bits = bits.to(tl.uint32)
    x_0 = tl.zeros((32, 32), tl.float32)
    x_1, x_2, x_3 = x_0, x_0, x_0
    sum_0, sum_1, sum_2, sum_3 = x_0, x_0, x_0, x_0
    if PROJECT:
        x_0 = tl.load(x_N + at, at < num_entries, 0.0).to(tl.float32)
        x_1 = tl.load(x_N + at + 1024, at + 1024 < num_entries, 0.0).to(tl.float32)
        x_2 = tl.load(x_N + at + 2048, at + 2048 < num_entries, 0.0).to(tl.float32)
        x_3 = tl.load(x_N + at + 3072, at + 3072 < num_entries, 0.0).to(tl.float32)
    for i in range(num_directions):
        number = tl.load(numbers_C + i).to(tl.uint64)
        low = nothing + (number & 0xFFFFFFFF).to(tl.uint32)
        high = nothing + (number >> 32).to(tl.uint32)
        word_0, word_1, word_2, word_3 = tl.philox(seed, call, nothing, low, high)
        sign_0, sign_1 = _signs(word_0, bits), _signs(word_1, bits)
        sign_2, sign_3 = _signs(word_2, bits), _signs(word_3, bits)
        if COMBINE:
            weight = tl.load(weights_C + i)
            sum_0 += weight * sign_0
            sum_1 += weight * sign_1
            sum_2 += weight * sign_2
            sum_3 += weight * sign_3
        if PROJECT:
            along = sign_0 * x_0 + sign_1 * x_1 + sign_2 * x_2 + sign_3 * x_3
            tl.store(partial_CT + i * num_tiles + tile, tl.sum(tl.sum(along, 1), 0))
    if COMBINE:
        tl.store(out_N + at, sum_0, at < num_entries)
        tl.store(out_N + at + 1024, sum_1, at + 1024 < num_entries)
        tl.store(out_N + at + 2048, sum_2, at + 2048 < num_entries)
        tl.store(out_N + at + 3072, sum_3, at + 3072 < num_entries)
