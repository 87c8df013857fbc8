"""Blocks of PaRO-CC put in order, in plain torch: what the kernels are held against.

A flat tensor has a part per rank. Collectives of two layers gather them by place in a group, then
by group: what arrives lies by (place, group) and is wanted by (group, place). Types may change on
the way: what is sent is bfloat16, what is kept is float32.
"""

from __future__ import annotations

import torch
from torch import Tensor

from harness.errors import SpecError


def rearrange(
    source_N: Tensor, rows: int, columns: int, dtype: torch.dtype, *, out_N: Tensor | None = None
) -> Tensor:
    """Return blocks by (column, row) that lie by (row, column), shape (N,), in another type.

    out_N: where they go, contiguous, of that type, and no part of the source; None: a new tensor.
    Raises SpecError where N is no multiple of rows times columns, or out_N is none of these.
    """
    check(source_N, rows, columns, dtype, out_N)
    target_N = source_N.new_empty(source_N.shape, dtype=dtype) if out_N is None else out_N
    blocks_RCK = source_N.view(rows, columns, -1)
    target_N.view(columns, rows, -1).copy_(blocks_RCK.transpose(0, 1))
    return target_N


def check(
    source_N: Tensor, rows: int, columns: int, dtype: torch.dtype, out_N: Tensor | None
) -> None:
    """Raise SpecError for blocks that do not fit, and for what they cannot go to."""
    if rows < 1 or columns < 1 or source_N.ndim != 1 or len(source_N) % (rows * columns):
        raise SpecError(
            f"{rows} x {columns} blocks of a tensor of shape {tuple(source_N.shape)}: need a flat"
            " one that they divide"
        )
    if out_N is None:
        return
    fits = out_N.shape == source_N.shape and out_N.dtype == dtype and out_N.is_contiguous()
    if not fits or out_N.device != source_N.device:
        raise SpecError(
            f"out_N of shape {tuple(out_N.shape)}, {out_N.dtype}, on {out_N.device}: need a"
            f" contiguous one of shape {tuple(source_N.shape)}, {dtype}, on {source_N.device}"
        )
