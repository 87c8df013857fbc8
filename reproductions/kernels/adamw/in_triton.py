"""AdamW of masked weights by Triton: all tensors in one launch, each byte read and written once."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from reproductions.kernels.adamw.launch import CHUNK, Launch, step_by
from reproductions.kernels.adamw.plain import AdamW, Weight
from reproductions.kernels.device import on

NUM_WARPS = 8
TYPES = {
    torch.float32: tl.float32, torch.bfloat16: tl.bfloat16, torch.float16: tl.float16,
}  # fmt: skip


@triton.jit
def _address(row, place: tl.constexpr, TYPE: tl.constexpr, ALIGNED: tl.constexpr):  # type: ignore[no-untyped-def]
    pointer = tl.load(row + place).to(tl.pointer_type(TYPE))
    if ALIGNED:
        pointer = tl.multiple_of(pointer, 16)
    return pointer


@triton.jit
def _read(pointers, inside, FULL: tl.constexpr):  # type: ignore[no-untyped-def]
    # To float32 before any arithmetic: the interpreter has none of bfloat16.
    if FULL:
        return tl.load(pointers).to(tl.float32)
    return tl.load(pointers, inside, 0.0).to(tl.float32)


@triton.jit
def _write(pointers, numbers, inside, FULL: tl.constexpr):  # type: ignore[no-untyped-def]
    if FULL:
        tl.store(pointers, numbers)
    else:
        tl.store(pointers, numbers, inside)


@triton.jit
def _step_entries(  # type: ignore[no-untyped-def]
    row, at, inside, lr, shrink, new_first, second, new_second, eps, rise, spread,
    VALUE: tl.constexpr, GRAD: tl.constexpr, COPY: tl.constexpr, ALIGNED: tl.constexpr,
    MASKED: tl.constexpr, COPIED: tl.constexpr, FULL: tl.constexpr,
):  # fmt: skip
    """Step entries; return the squares of their gradients and new weights, summed."""
    value_N = _address(row, 0, VALUE, ALIGNED) + at
    mean_N = _address(row, 2, tl.float32, ALIGNED) + at
    square_N = _address(row, 3, tl.float32, ALIGNED) + at
    value = _read(value_N, inside, FULL)
    grad = _read(_address(row, 1, GRAD, ALIGNED) + at, inside, FULL)
    mean = _read(mean_N, inside, FULL)
    square = _read(square_N, inside, FULL)
    if MASKED:
        kept = _read(_address(row, 4, tl.int8, ALIGNED) + at, inside, FULL) != 0.0
        # Chosen and not multiplied: a pruned weight's gradient may be NaN.
        grad = tl.where(kept, grad, 0.0)
    mean += new_first * (grad - mean)
    square = second * square + new_second * grad * grad
    value = value * (1.0 - shrink) - lr * (mean / rise) / (tl.sqrt(square / spread) + eps)
    if MASKED:
        value = tl.where(kept, value, 0.0)
    _write(value_N, value.to(VALUE), inside, FULL)
    _write(mean_N, mean, inside, FULL)
    _write(square_N, square, inside, FULL)
    if COPIED:
        _write(_address(row, 5, COPY, ALIGNED) + at, value.to(COPY), inside, FULL)
    if not FULL:
        value = tl.where(inside, value, 0.0)
    return tl.sum(grad * grad), tl.sum(value * value)


@triton.jit
def step_chunk(  # type: ignore[no-untyped-def]
    rows, rates, row_of_chunk, start_of_chunk, squares,
    new_first, second, new_second, eps, rise, spread,
    VALUE: tl.constexpr, GRAD: tl.constexpr, COPY: tl.constexpr, ALIGNED: tl.constexpr,
    MASKED: tl.constexpr, COPIED: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """Step a chunk of a tensor; leave the squares of its gradients and new weights, summed."""
    chunk = tl.program_id(0)
    number = tl.load(row_of_chunk + chunk)
    row = rows + number * 7
    start = tl.multiple_of(tl.load(start_of_chunk + chunk), CHUNK)
    at = start + tl.arange(0, CHUNK)
    size = tl.load(row + 6)
    lr, shrink = tl.load(rates + number * 2), tl.load(rates + number * 2 + 1)
    if start + CHUNK <= size:
        # Nothing is left out: loads and stores stay 16 bytes wide.
        of_grad, of_value = _step_entries(
            row, at, at < size, lr, shrink, new_first, second, new_second, eps, rise, spread,
            VALUE, GRAD, COPY, ALIGNED, MASKED, COPIED, True,
        )  # fmt: skip
    else:
        of_grad, of_value = _step_entries(
            row, at, at < size, lr, shrink, new_first, second, new_second, eps, rise, spread,
            VALUE, GRAD, COPY, ALIGNED, MASKED, COPIED, False,
        )  # fmt: skip
    tl.store(squares + chunk * 2, of_grad)
    tl.store(squares + chunk * 2 + 1, of_value)


def step_(
    weights: Sequence[Weight], adamw: AdamW, step: int, *, norms: bool = True
) -> Tensor | None:
    """Take a step as `plain.step_` does, a launch per combination of types."""
    return step_by(_launch, weights, adamw, step, norms=norms)


def _launch(told: Launch, one: Weight, numbers: Sequence[float], squares: Tensor) -> None:
    copy = one.value if one.copy is None else one.copy
    table, chunks = told.table, told.table.chunks
    with on(squares.device):
        step_chunk[(len(squares),)](
            table.rows, told.rates, chunks.row, chunks.start, squares, *numbers,
            VALUE=TYPES[one.value.dtype], GRAD=TYPES[one.grad.dtype], COPY=TYPES[copy.dtype],
            ALIGNED=table.aligned, MASKED=one.mask is not None, COPIED=one.copy is not None,
            CHUNK=CHUNK, num_warps=NUM_WARPS,
        )  # fmt: skip
