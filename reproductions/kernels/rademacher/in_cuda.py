"""Random signs by CUDA C++: made in registers, summed or multiplied there, never written."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch
from torch import Tensor

from reproductions.kernels.derivatives import refuse_derivatives
from reproductions.kernels.device import brought, on
from reproductions.kernels.rademacher.plain import TILE
from reproductions.kernels.toolchain.built import launched, library, stream_of


class Pass(ctypes.Structure):
    """As thread.h has it."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("weights", "x", "numbers", "out")),
        ("seed", ctypes.c_uint64),
        ("num_directions", ctypes.c_int64),
        ("num_entries", ctypes.c_int64),
    ]


def combine(weights_C: Tensor, seed: int, numbers: Sequence[int], num_entries: int) -> Tensor:
    """Return sum_i w_i v_i as `plain.combine` does; no direction is ever stored."""
    out_N = torch.empty(num_entries, device=weights_C.device)
    weights_C = weights_C.float().contiguous()
    _launch("launch_combine", seed, numbers, num_entries, out=out_N, weights=weights_C)
    return out_N


def project(x_N: Tensor, seed: int, numbers: Sequence[int]) -> Tensor:
    """Return v_i . x of each direction as `plain.project` does."""
    partial_CT = torch.zeros(len(numbers), -(-len(x_N) // TILE), device=x_N.device)
    x_N = x_N.float().contiguous()
    _launch("launch_project", seed, numbers, len(x_N), out=partial_CT, x=x_N)
    return partial_CT.sum(1)


def combine_and_project(
    weights_C: Tensor, x_N: Tensor, seed: int, numbers: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Return both as `plain.combine_and_project` does, in two passes.

    A thread has 128 entries of a tile: their sums and those of x are more than its registers.
    """
    return combine(weights_C, seed, numbers, len(x_N)), project(x_N, seed, numbers)


def _launch(
    name: str,
    seed: int,
    numbers: Sequence[int],
    num_entries: int,
    *,
    out: Tensor,
    weights: Tensor | None = None,
    x: Tensor | None = None,
) -> None:
    refuse_derivatives("rademacher", weights, x)
    device = out.device
    numbers_C = brought(list(numbers), torch.int64, device)
    given = [None if each is None else each.data_ptr() for each in (weights, x, numbers_C, out)]
    told = Pass(*given, seed, len(numbers), num_entries)
    with on(device):
        launched(getattr(library("rademacher", device), name)(told, stream_of(device)), name)
