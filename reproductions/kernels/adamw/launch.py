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
class Launch:
    """What a kernel is told of all tensors; on their device."""

    rows: Tensor
    """(T, 7) int64: addresses by POINTERS, 0 where there is none, and the number of entries."""
    rates: Tensor
    """(T, 2) float32: the step size, and by how much a weight shrinks first."""
    chunks: Chunks
    chunks_per_weight: Tensor
    """int64, one per weight; members of a stack together."""
    aligned: bool
    """Whether all addresses are multiples of ALIGNMENT."""


def launch_of(weights: Sequence[Weight], adamw: AdamW) -> Launch:
    """Write down tensors that one launch steps. Raises SpecError for what no kernel takes."""
    rows: list[list[int]] = []
    rates: list[tuple[float, float]] = []
    ends = []
    for weight in weights:
        for tensors, lr in members_of(weight):
            addresses = [0 if each is None else each.data_ptr() for each in tensors]
            rows.append([*addresses, weight.value.numel() // weight.num_members])
            rates.append((lr, adamw.shrink(lr)))
        ends.append(len(rows))
    sizes = tuple(row[-1] for row in rows)
    device = weights[0].value.device
    counts = [-(-size // CHUNK) for size in sizes]
    per_weight = [sum(counts[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
    return Launch(
        rows=torch.tensor(rows, dtype=torch.int64).view(-1, len(POINTERS) + 1).to(device),
        rates=torch.tensor(rates, dtype=torch.float32).view(-1, 2).to(device),
        chunks=chunks_of(sizes, device),
        chunks_per_weight=torch.tensor(per_weight, dtype=torch.int64).to(device),
        aligned=not any(address % ALIGNMENT for row in rows for address in row[:-1]),
    )


@lru_cache(maxsize=64)
def chunks_of(sizes: tuple[int, ...], device: torch.device) -> Chunks:
    """Return the programs of tensors of these sizes."""
    places = [(row, start) for row, size in enumerate(sizes) for start in range(0, size, CHUNK)]
    return Chunks(
        row=torch.tensor([row for row, _ in places], dtype=torch.int32).to(device),
        start=torch.tensor([start for _, start in places], dtype=torch.int64).to(device),
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


def by_types(weights: Sequence[Weight], launch: Callable[[Sequence[Weight]], Tensor]) -> Tensor:
    """Launch per combination of types; return norms in the order of the weights, shape (T, 2)."""
    together: dict[tuple[object, ...], list[int]] = {}
    for number, weight in enumerate(weights):
        copy = None if weight.copy is None else weight.copy.dtype
        types = (weight.value.dtype, weight.grad.dtype, copy, weight.mask is not None)
        together.setdefault(types, []).append(number)
    parts = [launch([weights[i] for i in numbers]) for numbers in together.values()]
    order = [number for numbers in together.values() for number in numbers]
    return torch.cat(parts)[torch.tensor(order).argsort()] if parts else torch.zeros(0, 2)


def norms_of(squares: Tensor, launch: Launch) -> Tensor:
    """Return the norms of gradients and of new weights from sums per chunk, (T, 2)."""
    # By segments: sums in an order that is always the same, which scattered ones have not.
    return torch.segment_reduce(squares, "sum", lengths=launch.chunks_per_weight, axis=0).sqrt()
