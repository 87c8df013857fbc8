"""Which implementation of a kernel is taken: chosen by a function, and said."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Literal

import torch
from torch import nn

from harness.choices import chose
from harness.errors import EnvError, SpecError

Backend = Literal["plain", "triton", "cuda"]
MODULES: dict[Backend, str] = {"plain": "plain", "triton": "in_triton", "cuda": "in_cuda"}
DTYPES = (torch.float32, torch.bfloat16, torch.float16)
"""Of numbers that kernels multiply, and that they move without loss."""
_wanted: ContextVar[bool] = ContextVar("_wanted", default=True)


@contextmanager
def without_kernels() -> Iterator[None]:
    """Take plain torch wherever a kernel would be chosen meanwhile, as `choose` then says.

        with without_kernels():
            optimizer.step()

    It holds in this thread (or task of asyncio) alone, and is undone whatever happens. Backward
    passes on a GPU have threads of their own, where it does not hold: layers that a checkpoint
    runs again there choose anew. What names a backend itself still gets that one. Optimizers keep
    what they chose at their first step: make them inside.
    """
    before = _wanted.set(False)
    try:
        yield
    finally:
        _wanted.reset(before)


def chosen(
    kernel: str, device: torch.device, backend: Backend | None = None, *, why_not: str = ""
) -> ModuleType:
    """Return what a method's kernel is done by on a device, and say it where it is a GPU.

    backend: what the caller asks for; None leaves it to `choose`. On a CPU the choice is plain
    torch, which is what is meant where nothing is said. why_not: for what reason a kernel does not
    do here, where there is one.
    """
    taken = backend or choose(device)
    if taken != "plain" and why_not:
        passed_over(kernel, "plain", why_not)
        return implementation(kernel, "plain")
    if taken != "plain" or device.type == "cuda":
        chose(f"kernels/{kernel}", taken)
    return implementation(kernel, taken)


def passed_over(kernel: str, instead: str, why: str) -> None:
    """Say what a method takes where it could have a kernel, and why that one does not do."""
    chose(f"kernels/{kernel}", f"{instead} ({why})")


def choose(device: torch.device) -> Backend:
    """Return what a method takes on a device: Triton on CUDA, plain torch elsewhere.

    Raises EnvError on CUDA without Triton: to take plain torch there is to be asked for, by
    `without_kernels` or of a single kernel by name.
    """
    if device.type != "cuda":
        return "plain"
    if not _wanted.get():
        chose("kernels", "plain torch, as asked for")
        return "plain"
    if find_spec("triton") is None:
        raise EnvError(
            'kernels on cuda need Triton, which is not installed: pip install "[kernels]" of this'
            ' project, or ask for plain torch: without_kernels() or backend="plain"'
        )
    return "triton"


def why_not_past(module: nn.Module) -> str:
    """Say why a kernel cannot do a module's work without a call of it; nothing if it can.

    >>> why_not_past(nn.Linear(2, 2))
    ''
    """
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    name = type(module).__name__
    if any(getattr(module, kind) for kind in kinds):
        return f"hooks on a {name}, which it would not call"
    if "forward" in module.__dict__ or module._compiled_call_impl is not None:
        return f"a {name} that was compiled, or whose forward pass was replaced"
    return ""


def implementation(kernel: str, backend: Backend) -> ModuleType:
    """Return the module of a kernel's implementation; each has the same functions.

    Raises SpecError for a kernel that has none: `cuda` is there for `adamw` and `rademacher`.
    """
    name = f"reproductions.kernels.{kernel}"
    if find_spec(name) is None or find_spec(f"{name}.{MODULES[backend]}") is None:
        raise SpecError(f"there is no kernel {kernel!r} with backend {backend!r}")
    return import_module(f"reproductions.kernels.{kernel}.{MODULES[backend]}")
