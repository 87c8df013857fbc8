"""Bytes of live tensors while something runs: by storage on a CPU, by the allocator on a GPU."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

T = TypeVar("T")


class LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Count the bytes of storages that operations make, until nothing holds them.

        with LiveBytes() as live:
            ...
        live.peak_bytes

    Exact for dense tensors, each storage counted once however many views it has. Temporaries
    inside of an operation are not seen.
    """

    now_bytes: int
    peak_bytes: int

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now_bytes = self.peak_bytes = 0
        self._alive: dict[int, weakref.ref[Any]] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        given = self._keys((args, kwargs))
        made = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(made):
            if isinstance(leaf, Tensor):
                self._count(leaf, given)
        return made

    def _keys(self, values: Any) -> set[int]:
        tensors = (leaf for leaf in tree_leaves(values) if isinstance(leaf, Tensor))
        return {leaf.untyped_storage()._cdata for leaf in tensors}

    def _count(self, tensor: Tensor, given: set[int]) -> None:
        """Count a storage that was not there before the operation."""
        storage = tensor.untyped_storage()
        key, size = storage._cdata, storage.nbytes()
        if key in self._alive or key in given:
            return

        def gone(_: object) -> None:
            self.now_bytes -= size
            self._alive.pop(key, None)

        self._alive[key] = weakref.ref(storage, gone)
        self.now_bytes += size
        self.peak_bytes = max(self.peak_bytes, self.now_bytes)


def peak_of(run: Callable[[], T], *, measured: bool, device: torch.device) -> tuple[T, int | None]:
    """Return what a call returns and its peak of live bytes; None where nothing is measured."""
    if device.type == "cuda":
        # The allocator counts anyway; its peak is this call's from here on.
        torch.cuda.synchronize(device)
        before = torch.cuda.memory_allocated(device)
        if measured:
            torch.cuda.reset_peak_memory_stats(device)
        result = run()
        torch.cuda.synchronize(device)
        peak = torch.cuda.max_memory_allocated(device) - before
        return result, peak if measured else None
    if not measured:
        return run(), None
    with LiveBytes() as live:
        result = run()
    return result, live.peak_bytes
