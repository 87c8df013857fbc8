"""Random signs and what is made of them, in plain torch: what the kernels are held against.

Direction i under a seed: its calls of Philox have the counter (call, 0, i's low word, i's high
word) and the seed as key. 32 calls make a tile of 4096 entries; within it entry
`1024 w + 128 g + 4 c + j` is bit `4 g + j` of word w of call c: a warp, a call per thread, writes
neighbouring numbers at once, and each of its threads four of them, which is as much as one
instruction moves.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from reproductions.kernels.precision import wide

TILE_CALLS = 32
WORDS = 4
BITS = 32
NEIGHBOURS = 4
"""Neighbouring entries of a call."""
TILE = TILE_CALLS * WORDS * BITS
"""Entries per tile."""
NUM_ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
LOW = 0xFFFF_FFFF

Words = tuple[Tensor, Tensor, Tensor, Tensor]


def philox(counter: Words, key: tuple[int, int]) -> Words:
    """Return four random words per counter by Philox4x32-10; all tensors int64 of one shape.

    A word is an integer below 2**32: torch has no such type on all devices.
    Source: Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011,
    section 4.3.
    """
    first, second, third, fourth = counter
    for number in range(NUM_ROUNDS):
        keys = [(key[i] + number * KEY_STEPS[i]) & LOW for i in range(2)]
        high_1, low_1 = halves(first * MULTIPLIERS[0])
        high_2, low_2 = halves(third * MULTIPLIERS[1])
        first, second, third, fourth = (
            high_2 ^ second ^ keys[0],
            low_2,
            high_1 ^ fourth ^ keys[1],
            low_1,
        )
    return first, second, third, fourth


def halves(number: Tensor) -> tuple[Tensor, Tensor]:
    """Return the high and the low word of 64 bits; the sign is a bit like the others."""
    return (number >> 32) & LOW, number & LOW


def signs(seed: int, numbers: Sequence[int], num_entries: int, device: torch.device) -> Tensor:
    """Return directions by their numbers, shape (C, N), float32."""
    num_tiles = -(-num_entries // TILE)
    calls = torch.arange(num_tiles * TILE_CALLS, device=device)
    nothing = torch.zeros_like(calls)
    rows = []
    for number in numbers:
        low, high = number & LOW, number >> 32
        words = philox((calls, nothing, nothing + low, nothing + high), (seed & LOW, seed >> 32))
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
