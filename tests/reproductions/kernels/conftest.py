"""What tests of kernels share: Triton's interpreter, bands of NaN round outputs, tolerances."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
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

BAND = 64
"""Entries on either side of an output."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that takes `backend` each implementation of its kernel that a CPU can run.

    CUDA sources are built by the host's compiler there.
    """
    if "backend" not in metafunc.fixturenames:
        return
    folder = Path(reproductions.kernels.__path__[0]) / metafunc.module.KERNEL
    backends: list[Any] = ["plain", pytest.param("triton", marks=pytest.mark.kernels)]
    if (folder / "in_cuda.py").is_file():
        backends.append("cuda")
    metafunc.parametrize("backend", backends)


@pytest.fixture
def ops(request: pytest.FixtureRequest, backend: Backend) -> ModuleType:
    """Return the kernel that a test file is named for, as a backend implements it."""
    return implementation(request.module.KERNEL, backend)


@pytest.fixture(autouse=True)
def bands(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Tensor], Tensor]]:
    """Give whatever is allocated bands of NaN on both sides, and see that they stay.

    The function that it returns copies a tensor to between such bands.
    """
    whole: list[Tensor] = []
    empty, empty_like = torch.empty, torch.empty_like

    def between(shape: Sequence[int], dtype: torch.dtype) -> Tensor:
        size = math.prod(shape)
        band = BAND * 16 // dtype.itemsize
        filled = empty(size + 2 * band, dtype=dtype)
        filled.view(torch.uint8).fill_(0xFF)
        whole.append(filled)
        return filled[band : band + size].view(shape)

    def like(tensor: Tensor, *, dtype: torch.dtype | None = None) -> Tensor:
        # In the order of memory that torch gives it.
        flat = between((tensor.numel(),), dtype or tensor.dtype)
        strides = empty_like(tensor).stride()
        return flat.as_strided(tensor.shape, strides, flat.storage_offset())

    def copied(tensor: Tensor) -> Tensor:
        return between(tensor.shape, tensor.dtype).copy_(tensor)

    def plainly(*shape: Any, dtype: torch.dtype = torch.float32, device: Any = None) -> Tensor:
        return between(shape[0] if shape and isinstance(shape[0], tuple | list) else shape, dtype)

    def new(
        tensor: Tensor, *shape: Any, dtype: torch.dtype | None = None, device: Any = None
    ) -> Tensor:
        return plainly(*shape, dtype=dtype or tensor.dtype)

    def zeros(*shape: Any, dtype: torch.dtype = torch.float32, device: Any = None) -> Tensor:
        return plainly(*shape, dtype=dtype).zero_()

    # Not where torch itself compiles functions of its own that call it.
    if "backend" in request.fixturenames:
        monkeypatch.setattr(torch, "zeros", zeros)
    monkeypatch.setattr(torch.Tensor, "new_empty", new)
    monkeypatch.setattr(torch, "empty_like", like)
    monkeypatch.setattr(torch, "empty", plainly)
    yield copied
    for filled in whole:
        raw, band = filled.view(torch.uint8), BAND * 16
        assert (raw[:band] == 0xFF).all() and (raw[-band:] == 0xFF).all(), "written beyond the end"
