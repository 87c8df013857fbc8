"""What tests of kernels share: Triton's interpreter, bands of NaN round outputs, tolerances."""

from __future__ import annotations

import ctypes
import math
import os
import subprocess
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

import reproductions.kernels
from reproductions.kernels.backend import Backend, implementation

if not torch.cuda.is_available() and find_spec("triton") is not None:
    # Before any kernel is defined; without a GPU a launch ends in an error otherwise.
    os.environ["TRITON_INTERPRET"] = "1"

BACKENDS = ("plain", pytest.param("triton", marks=pytest.mark.kernels))
BAND = 64
"""Entries on either side of an output."""
ROUNDING = {
    torch.float64: 2.0**-53,
    torch.float32: 2.0**-24,
    torch.float16: 2.0**-11,
    # Twice what rounding to the nearest gives: the interpreter cuts digits off.
    torch.bfloat16: 2.0**-7,
}
"""Largest relative error of one rounding."""
STEPS = 8
"""Roundings that may add up in an entry beside those of its sum."""


def tolerance(dtype: torch.dtype, length: int = 1, *, size: float = 1.0) -> dict[str, float]:
    """Return what `assert_close` allows of a sum of `length` numbers as large as `size`.

    Errors of a sum in any order grow as the root of its length: their signs are mixed.
    """
    wide = torch.promote_types(dtype, torch.float32)
    relative = ROUNDING[dtype] + ROUNDING[wide] * STEPS * math.sqrt(length)
    return {"rtol": relative, "atol": relative * size}


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Return each implementation that a CPU can run."""
    chosen: Backend = request.param
    return chosen


@pytest.fixture
def ops(request: pytest.FixtureRequest, backend: Backend) -> ModuleType:
    """Return the kernel that a test file is named for, as a backend implements it."""
    return implementation(request.module.KERNEL, backend)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ctypes.CDLL]:
    """Return what builds the arithmetic of a kernel's CUDA source by the host's compiler."""
    folder = Path(reproductions.kernels.__path__[0])

    def build(kernel: str) -> ctypes.CDLL:
        library = tmp_path_factory.mktemp(kernel) / "on_host.so"
        subprocess.run(
            # No product and sum in one instruction: rounding is then that of plain torch.
            ["g++", "-std=c++17", "-O2", "-ffp-contract=off", "-Wall", "-Wno-unknown-pragmas",
             "-Werror", "-shared", "-fPIC", str(folder / kernel / "cuda" / "on_host.cpp"), "-o",
             str(library)],
            check=True,
        )  # fmt: skip
        return ctypes.CDLL(str(library))

    return build


@pytest.fixture(autouse=True)
def bands(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Tensor], Tensor]]:
    """Give whatever is allocated bands of NaN on both sides, and see that they stay.

    The function that it returns copies a tensor to between such bands.
    """
    whole: list[Tensor] = []
    empty = torch.empty

    def between(shape: Any, dtype: torch.dtype) -> Tensor:
        size = math.prod(shape)
        band = BAND * 16 // dtype.itemsize
        filled = empty(size + 2 * band, dtype=dtype)
        filled.view(torch.uint8).fill_(0xFF)
        whole.append(filled)
        return filled[band : band + size].view(shape)

    def like(tensor: Tensor, *, dtype: torch.dtype | None = None) -> Tensor:
        return between(tensor.shape, dtype or tensor.dtype)

    def copied(tensor: Tensor) -> Tensor:
        return between(tensor.shape, tensor.dtype).copy_(tensor)

    monkeypatch.setattr(torch, "empty_like", like)
    yield copied
    for filled in whole:
        raw, band = filled.view(torch.uint8), BAND * 16
        assert (raw[:band] == 0xFF).all() and (raw[-band:] == 0xFF).all(), "written beyond the end"
