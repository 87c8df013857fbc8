"""What tests of kernels share: bands of NaN round outputs, tolerances."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

import reproductions.kernels
from reproductions.kernels import precision
from reproductions.kernels.backend import Backend, implementation

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
def digits_cut_off(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow twice the rounding of bfloat16 where Triton's interpreter makes it.

    It cuts digits off, where a GPU, torch and the CUDA sources round to the nearest.
    """
    params = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    by = {params.get("backend"), params.get("language")}
    if "triton" in by and os.environ.get("TRITON_INTERPRET") == "1":
        monkeypatch.setitem(precision.ROUNDING, torch.bfloat16, 2.0**-7)


def is_wrapped(tensor: Tensor) -> bool:
    """Say whether a tensor stands for another one in a transform of torch.func."""
    return torch._C._functorch.is_functorch_wrapped_tensor(tensor)


@pytest.fixture(autouse=True)
def bands(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Tensor], Tensor]]:
    """Give whatever is allocated bands of NaN on both sides, and see that they stay.

    The function that it returns copies a tensor to between such bands.
    """
    whole: list[Tensor] = []
    empty, empty_like, in_order = torch.empty, torch.empty_like, Tensor.contiguous
    zeros_like = torch.zeros_like

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

    def plainly(*shape: Any, dtype: torch.dtype | None = None, device: Any = None) -> Tensor:
        sizes = shape[0] if shape and isinstance(shape[0], tuple | list) else shape
        return between(sizes, dtype or torch.float32)

    def new(
        tensor: Tensor, *shape: Any, dtype: torch.dtype | None = None, device: Any = None
    ) -> Tensor:
        return plainly(*shape, dtype=dtype or tensor.dtype)

    def zeros(*shape: Any, dtype: torch.dtype = torch.float32, device: Any = None) -> Tensor:
        return plainly(*shape, dtype=dtype).zero_()

    def zeroed(tensor: Tensor, **options: Any) -> Tensor:
        if is_wrapped(tensor):
            return zeros_like(tensor, **options)
        return like(tensor, dtype=options.get("dtype")).zero_()

    def new_zeros(
        tensor: Tensor, *shape: Any, dtype: torch.dtype | None = None, device: Any = None
    ) -> Tensor:
        return new(tensor, *shape, dtype=dtype).zero_()

    def contiguous(tensor: Tensor, **options: Any) -> Tensor:
        # Of a tensor in another order of memory a kernel writes to the copy.
        if is_wrapped(tensor) or tensor.is_contiguous() or options:
            return in_order(tensor, **options)
        return copied(tensor)

    # torch lists once what a default device applies to: later it would list these in their place.
    import_module("torch.utils._device")._device_constructors()
    # Not where torch itself compiles functions of its own that call them.
    if "backend" in request.fixturenames:
        # Those of derivatives it compiles now.
        import_module("torch._decomp.decompositions_for_jvp")
        monkeypatch.setattr(torch, "zeros", zeros)
        monkeypatch.setattr(torch, "zeros_like", zeroed)
        monkeypatch.setattr(torch.Tensor, "new_zeros", new_zeros)
        monkeypatch.setattr(torch.Tensor, "contiguous", contiguous)
    monkeypatch.setattr(torch.Tensor, "new_empty", new)
    monkeypatch.setattr(torch, "empty_like", like)
    monkeypatch.setattr(torch, "empty", plainly)
    yield copied
    for filled in whole:
        raw, band = filled.detach().view(torch.uint8), BAND * 16
        assert (raw[:band] == 0xFF).all() and (raw[-band:] == 0xFF).all(), "written beyond the end"
