"""AdamW of masked weights by CUDA C++: the same launch as Triton's, from the same table."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch
from torch import Tensor

from harness.errors import SpecError
from reproductions.kernels.adamw.launch import Launch, step_by
from reproductions.kernels.adamw.plain import AdamW, Weight
from reproductions.kernels.device import on
from reproductions.kernels.toolchain.built import launched, library, stream_of

ENTRIES = {
    (torch.float32, torch.float32): "step_float32",
    (torch.float32, torch.bfloat16): "step_float32_from_bfloat16",
    (torch.bfloat16, torch.bfloat16): "step_bfloat16",
}
"""By the types of values and of gradients."""

TENSORS = ("rows", "rates", "row_of_chunk", "start", "squares")
NUMBERS = ("new_first", "second", "new_second", "eps", "rise", "spread")


class Told(ctypes.Structure):
    """Launch as entries.h has it, its settings in line."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in TENSORS),
        ("num_chunks", ctypes.c_int64),
        *((name, ctypes.c_float) for name in NUMBERS),
    ]


def step_(
    weights: Sequence[Weight], adamw: AdamW, step: int, *, norms: bool = True
) -> Tensor | None:
    """Take a step as `plain.step_` does, a launch per combination of types.

    Raises SpecError for types other than float32 and bfloat16.
    """
    return step_by(_launch, weights, adamw, step, norms=norms)


def _launch(given: Launch, one: Weight, numbers: Sequence[float], squares: Tensor) -> None:
    types = (one.value.dtype, one.grad.dtype)
    if types not in ENTRIES or (one.copy is not None and one.copy.dtype != torch.bfloat16):
        raise SpecError(
            f"values in {types[0]}, gradients in {types[1]}: CUDA C++ has float32 and bfloat16, and"
            " copies in bfloat16; Triton has the others"
        )
    device, chunks = squares.device, given.table.chunks
    tensors = (given.table.rows, given.rates, chunks.row, chunks.start, squares)
    told = Told(*(each.data_ptr() for each in tensors), len(squares), *numbers)
    name = ENTRIES[types]
    with on(device):
        launched(getattr(library("adamw", device), name)(told, stream_of(device)), name)
