"""AdamW of masked weights by CUDA C++: the same launch as Triton's, from the same table."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch
from torch import Tensor

from harness.errors import SpecError
from reproductions.kernels.adamw.launch import by_types, launch_of, norms_of
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


class Launch(ctypes.Structure):
    """As entries.h has it, its settings in line."""

    _fields_ = [
        *(
            (name, ctypes.c_void_p)
            for name in ("rows", "rates", "row_of_chunk", "start", "squares")
        ),
        ("num_chunks", ctypes.c_int64),
        *(
            (name, ctypes.c_float)
            for name in ("new_first", "second", "new_second", "eps", "rise", "spread")
        ),
    ]


def step_(
    weights: Sequence[Weight], adamw: AdamW, step: int, *, norms: bool = True
) -> Tensor | None:
    """Take a step as `plain.step_` does, a launch per combination of types.

    Raises SpecError for types other than float32 and bfloat16.
    """
    corrections = adamw.corrections(step)
    return by_types(weights, lambda some: _launch(some, adamw, corrections, norms=norms))


def _launch(
    weights: Sequence[Weight], adamw: AdamW, corrections: tuple[float, float], *, norms: bool
) -> Tensor | None:
    one = weights[0]
    types = (one.value.dtype, one.grad.dtype)
    if types not in ENTRIES or (one.copy is not None and one.copy.dtype != torch.bfloat16):
        raise SpecError(
            f"values in {types[0]}, gradients in {types[1]}: CUDA C++ has float32 and bfloat16, and"
            " copies in bfloat16; Triton has the others"
        )
    launch = launch_of(weights, adamw)
    device, chunks = one.value.device, launch.table.chunks
    num_chunks = len(chunks.row)
    # Each chunk writes its own.
    squares = torch.empty(num_chunks, 2, device=device)
    # Less than one in float64: in float32 1 - 0.999 would be off by 5e-5 of itself.
    first, second = adamw.betas
    tensors = (launch.table.rows, launch.rates, chunks.row, chunks.start, squares)
    told = Launch(
        *(each.data_ptr() for each in tensors), num_chunks,
        1 - first, second, 1 - second, adamw.eps, *corrections,
    )  # fmt: skip
    name = ENTRIES[types]
    with on(device):
        launched(getattr(library("adamw", device), name)(told, stream_of(device)), name)
    return norms_of(squares, launch.chunks_per_weight) if norms else None
