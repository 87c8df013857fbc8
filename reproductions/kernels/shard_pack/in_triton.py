"""Blocks of PaRO-CC put in order by Triton, their type changed on the way."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from reproductions.kernels.derivatives import refuse_derivatives
from reproductions.kernels.device import on
from reproductions.kernels.shard_pack.plain import check

BLOCK = 2048
NUM_WARPS = 8


@triton.jit
def move_block(  # type: ignore[no-untyped-def]
    source, target, rows, columns, length, FULL: tl.constexpr, BLOCK: tl.constexpr
):
    """A piece of a block, from its place by (row, column) to that by (column, row)."""
    # Entries of a tensor may be more than 32 bits count.
    block = tl.program_id(1).to(tl.int64)
    row, column = block // columns, block % columns
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    start, to = block * length, (column * rows + row) * length
    if FULL:
        moved = tl.load(source + start + at).to(tl.float32)
        tl.store(target + to + at, moved.to(target.dtype.element_ty))
    else:
        inside = at < length
        moved = tl.load(source + start + at, inside, 0.0).to(tl.float32)
        tl.store(target + to + at, moved.to(target.dtype.element_ty), inside)


def rearrange(
    source_N: Tensor, rows: int, columns: int, dtype: torch.dtype, *, out_N: Tensor | None = None
) -> Tensor:
    """Rearrange as `plain.rearrange` does, each byte read and written once."""
    check(source_N, rows, columns, dtype, out_N)
    refuse_derivatives("shard_pack", source_N)
    source = source_N.contiguous()
    target = torch.empty_like(source, dtype=dtype) if out_N is None else out_N
    length = len(source) // (rows * columns)
    if length:
        with on(source.device):
            move_block[(triton.cdiv(length, BLOCK), rows * columns)](
                source, target, rows, columns, length,
                FULL=length % BLOCK == 0, BLOCK=BLOCK, num_warps=NUM_WARPS,
            )  # fmt: skip
    return target
