"""Where a launch over many tensors finds them: a row per tensor, a chunk per program.

A stack of models is as many tensors as it has members, each with a step size of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from harness.errors import SpecError
from reproductions.kernels.adamw.plain import AdamW, Weight
from reproductions.kernels.device import brought
from reproductions.kernels.toolchain.built import stream_of

CHUNK = 2048
"""Entries per program."""
POINTERS = ("value", "grad", "mean", "square", "mask", "copy")
ALIGNMENT = 16
"""Bytes: loads and stores are that wide."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunks:
    """Which program steps what; the same as long as the sizes of tensors are."""

    row: Tensor
    """(C,) int32: its row of the table."""
    start: Tensor
    """(C,) int64: its first entry, a multiple of CHUNK."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """Where tensors lie; the same as long as none of them moves."""

    rows: Tensor
    """(T, 7) int64: addresses by POINTERS, 0 where there is none, and the number of entries."""
    chunks: Chunks
    aligned: bool
    """Whether all addresses are multiples of ALIGNMENT."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Launch:
    """What a kernel is told of all tensors; on their device."""

    table: Table
    rates: Tensor
    """(T, 2) float32: the step size, and by how much a weight shrinks first."""
    chunks_per_weight: tuple[int, ...]
    """One per weight; members of a stack together."""


def launch_of(weights: Sequence[Weight], adamw: AdamW) -> Launch:
    """Write down tensors that one launch steps. Raises SpecError for what no kernel takes."""
    rows: list[tuple[int, ...]] = []
    rates: list[tuple[float, float]] = []
    per_weight = []
    for weight in weights:
        members = members_of(weight)
        size = weight.value.numel() // weight.num_members
        for tensors, lr in members:
            rows.append((*(0 if each is None else each.data_ptr() for each in tensors), size))
            rates.append((lr, float(adamw.shrink(lr, weight.weight_decay))))
        per_weight.append(len(members) * -(-size // CHUNK))
    device = weights[0].value.device
    return Launch(
        table=table_of(tuple(rows), device, stream_of(device).value),
        rates=brought(rates, torch.float32, device).view(-1, 2),
        chunks_per_weight=tuple(per_weight),
    )


@lru_cache(maxsize=64)
def table_of(rows: tuple[tuple[int, ...], ...], device: torch.device, stream: int | None) -> Table:
    """Return the table of these rows, brought to a device once.

    It is kept by all that is written in it: of a tensor that has moved there is no row. A stream
    has its own, for another one might read it before it is there.
    """
    return Table(
        rows=brought(rows, torch.int64, device).view(-1, len(POINTERS) + 1),
        chunks=chunks_of(tuple(row[-1] for row in rows), device, stream),
        aligned=not any(address % ALIGNMENT for row in rows for address in row[:-1]),
    )


@lru_cache(maxsize=64)
def chunks_of(sizes: tuple[int, ...], device: torch.device, stream: int | None) -> Chunks:
    """Return the programs of tensors of these sizes."""
    places = [(row, start) for row, size in enumerate(sizes) for start in range(0, size, CHUNK)]
    return Chunks(
        row=brought([row for row, _ in places], torch.int32, device),
        start=brought([start for _, start in places], torch.int64, device),
    )


def members_of(weight: Weight) -> list[tuple[list[Tensor | None], float]]:
    """Return what POINTERS name and the step size, of a weight or of each member of a stack."""
    tensors: list[Tensor | None] = [getattr(weight, name) for name in POINTERS]
    for name, tensor in zip(POINTERS, tensors, strict=True):
        if tensor is not None and not tensor.is_contiguous():
            raise SpecError(f"{name} of shape {tuple(tensor.shape)} is not contiguous: copy it")
    if not isinstance(weight.lr, Tensor):
        return [(tensors, weight.lr)]
    return [
        ([None if each is None else each[i] for each in tensors], lr)
        for i, lr in enumerate(weight.lr.tolist())
    ]


Launcher = Callable[[Launch, Weight, Sequence[float], Tensor], None]
"""Given all tensors, one of them, what `numbers_of` returns, and where each chunk leaves its
squares, (C, 2) float32."""


def step_by(
    launcher: Launcher, weights: Sequence[Weight], adamw: AdamW, step: int, *, norms: bool
) -> Tensor | None:
    """Step as `plain.step_` does, in a launch per combination of types."""
    numbers = numbers_of(adamw, step)

    def launch(some: Sequence[Weight]) -> Tensor | None:
        told = launch_of(some, adamw)
        # Each chunk writes its own.
        squares = torch.empty(len(told.table.chunks.row), 2, device=some[0].value.device)
        if len(squares):
            launcher(told, some[0], numbers, squares)
        return norms_of(squares, told.chunks_per_weight) if norms else None

    return by_types(weights, launch)


def numbers_of(adamw: AdamW, step: int) -> tuple[float, ...]:
    """Return what all entries share: 1 - beta1, beta2, 1 - beta2, eps, and both corrections."""
    first, second = adamw.betas
    # Less than one in float64: in float32 1 - 0.999 would be off by 5e-5 of itself.
    return (1 - first, second, 1 - second, adamw.eps, *adamw.corrections(step))


def by_types(
    weights: Sequence[Weight], launch: Callable[[Sequence[Weight]], Tensor | None]
) -> Tensor | None:
    """Launch per combination of types; return norms in the order of the weights, shape (T, 2)."""
    together: dict[tuple[object, ...], list[int]] = {}
    for number, weight in enumerate(weights):
        copy = None if weight.copy is None else weight.copy.dtype
        types = (weight.value.dtype, weight.grad.dtype, copy, weight.mask is not None)
        together.setdefault(types, []).append(number)
    parts = [launch([weights[i] for i in numbers]) for numbers in together.values()]
    found = [part for part in parts if part is not None]
    if len(found) < 2:
        return found[0] if found else (None if parts else torch.zeros(0, 2))
    order = [number for numbers in together.values() for number in numbers]
    places = sorted(range(len(order)), key=order.__getitem__)
    return torch.cat(found)[brought(places, torch.int64, found[0].device)]


def norms_of(squares: Tensor, chunks_per_weight: Sequence[int]) -> Tensor:
    """Return the norms of gradients and of new weights from sums per chunk, (T, 2)."""
    lengths = brought(chunks_per_weight, torch.int64, squares.device)
    # By segments: sums in an order that is always the same, which scattered ones have not. Unsafe
    # is what it calls lengths that it does not read back to add them up.
    return torch.segment_reduce(squares, "sum", lengths=lengths, axis=0, unsafe=True).sqrt()
