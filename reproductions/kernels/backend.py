"""Which implementation of a kernel is taken: chosen by a function, and said."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Literal

import torch

from harness.errors import EnvError

Backend = Literal["plain", "triton"]
MODULES: dict[Backend, str] = {"plain": "plain", "triton": "in_triton"}


def choose(device: torch.device) -> Backend:
    """Return what a method takes on a device: Triton on CUDA, plain torch elsewhere.

    Raises EnvError on CUDA without Triton: to take plain torch there is to be asked for.
    """
    if device.type != "cuda":
        return "plain"
    if find_spec("triton") is None:
        raise EnvError(
            'kernels on cuda need Triton, which is not installed: pip install "[kernels]" of this'
            ' project, or ask for backend="plain"'
        )
    return "triton"


def implementation(kernel: str, backend: Backend) -> ModuleType:
    """Return the module of a kernel's implementation; each has the same functions."""
    return import_module(f"reproductions.kernels.{kernel}.{MODULES[backend]}")
