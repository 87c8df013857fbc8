"""Blocks of PaRO-CC put in order, in plain torch: what the kernels are held against.

A flat tensor has a part per rank. Collectives of two layers gather them by place in a group, then
by group: what arrives lies by (place, group) and is wanted by (group, place). Types may change on
the way: what is sent is bfloat16, what is kept is float32.
"""

from __future__ import annotations

import torch
from torch import Tensor

from harness.errors import SpecError


def rearrange(source_N: Tensor, rows: int, columns: int, dtype: torch.dtype) -> Tensor:
    """Return blocks by (column, row) that lie by (row, column), shape (N,), in another type.

    Raises SpecError where N is no multiple of rows times columns.
    """
    check(source_N, rows, columns)
    blocks_RCK = source_N.view(rows, columns, -1)
    return blocks_RCK.transpose(0, 1).to(dtype).reshape(-1)


def check(source_N: Tensor, rows: int, columns: int) -> None:
    """Raise SpecError for blocks that do not fit."""
    if rows < 1 or columns < 1 or source_N.ndim != 1 or len(source_N) % (rows * columns):
        raise SpecError(
            f"{rows} x {columns} blocks of a tensor of shape {tuple(source_N.shape)}: need a flat"
            " one that they divide"
        )
