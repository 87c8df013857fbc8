"""Exact memory: on the CPU by counting unique storages, on a GPU by the allocator's peaks.

A storage is counted once, however many tensors view it. RSS is never used: it counts pages,
caches and libraries.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from harness.declare.params import Scalar
from harness.errors import EnvError
from harness.measure.fresh_process import call_fresh, check_importable, function_at

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryBytes:
    """Bytes of one training step, by what holds them; no storage is in two fields."""

    parameters: int
    buffers: int
    gradients: int
    """After the backward pass."""
    optimizer: int
    """States after the optimizer's step, step counters included."""
    saved: int
    """Alive at the end of the forward pass for the backward pass: activations, and the input
    where a layer saves it; parameters and buffers are not counted again."""

    @property
    def total(self) -> int:
        """Sum of all; a peak can be lower (saved is freed as gradients come) but for
        temporaries not higher."""
        return self.parameters + self.buffers + self.gradients + self.optimizer + self.saved

    def to_json(self) -> dict[str, int]:
        """Return plain JSON values, the total included."""
        return {**asdict(self), "total": self.total}


def count_bytes(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    forward: Callable[[], torch.Tensor],
) -> MemoryBytes:
    """Run one training step and count what it holds.

    forward: runs the model once and returns the scalar loss.
    The step is real: gradients are set to None, then made anew, and the optimizer steps once.
    Also runs under `FakeTensorMode`, where nothing is computed or allocated.
    """
    parameters, buffers = list(model.parameters()), list(model.buffers())
    optimizer.zero_grad(set_to_none=True)
    with saved_tensors() as saved:
        loss = forward()
        saved_bytes = saved.num_bytes(excluding=[*parameters, *buffers])
    loss.backward()  # type: ignore[no-untyped-call]
    del loss
    gradients = [p.grad for p in parameters if p.grad is not None]
    optimizer.step()
    return MemoryBytes(
        parameters=storage_bytes(parameters),
        buffers=storage_bytes(buffers, excluding=parameters),
        gradients=storage_bytes(gradients),
        optimizer=storage_bytes(optimizer_tensors(optimizer), excluding=parameters),
        saved=saved_bytes,
    )


def storage_bytes(
    tensors: Iterable[torch.Tensor], *, excluding: Iterable[torch.Tensor] = ()
) -> int:
    """Return the bytes of all storages under `tensors`, each once, less those `excluding`.

    A view counts its whole storage: that is what it keeps alive.
    """
    left_out = {tensor.untyped_storage()._cdata for tensor in excluding}
    sizes = {s._cdata: s.nbytes() for s in (tensor.untyped_storage() for tensor in tensors)}
    return sum(size for cdata, size in sizes.items() if cdata not in left_out)


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> Iterator[torch.Tensor]:
    """Yield every tensor in the optimizer's states, at any depth."""
    import torch
    from torch.utils._pytree import tree_leaves

    leaves = tree_leaves(list(optimizer.state.values()))
    yield from (leaf for leaf in leaves if isinstance(leaf, torch.Tensor))


@dataclass(slots=True)
class SavedTensors:
    """Storages that autograd has saved for the backward pass, held weakly."""

    _sizes: dict[Any, int] = field(default_factory=dict)
    """StorageWeakRef (untyped in torch) -> bytes."""

    def num_bytes(self, *, excluding: Iterable[torch.Tensor] = ()) -> int:
        """Return the bytes of saved storages alive now, less those under `excluding`."""
        left_out = {tensor.untyped_storage()._cdata for tensor in excluding}
        alive = (ref for ref in self._sizes if not ref.expired() and ref.cdata not in left_out)
        return sum(self._sizes[ref] for ref in alive)


@contextlib.contextmanager
def saved_tensors() -> Iterator[SavedTensors]:
    """Watch what autograd saves; ask the watcher for bytes while the graph is alive.

    Tensors that a custom function keeps on its own, without `save_for_backward`, are not
    seen; under activation checkpointing only a segment's inputs are, as nothing else is kept.
    """
    import torch
    from torch.multiprocessing.reductions import StorageWeakRef

    saved = SavedTensors()

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        # Weak: a strong one would keep what a dropped branch of the graph lets go, and
        # without any a freed storage's address could come back as another's.
        storage = tensor.untyped_storage()
        saved._sizes[StorageWeakRef(storage)] = storage.nbytes()  # type: ignore[no-untyped-call]
        # The tensor itself may be the output of the very node that saves it: a cycle through
        # C++ that no collector frees. Autograd restores the history by itself.
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        yield saved


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuPeak:
    """Peaks of torch's CUDA allocator over a whole fresh process."""

    allocated_bytes: int
    """Largest sum of live tensors."""
    reserved_bytes: int
    """Largest memory taken from the driver."""


def gpu_peak(function: Callable[..., object], params: Mapping[str, Scalar]) -> GpuPeak:
    """Call `function(**params)` in a fresh process and return its CUDA peaks.

    function: at module level, so that the other process can import it.
    Raises SpecError if it is not, EnvError without a GPU, RunError if the process fails.
    """
    import torch

    check_importable(function)
    if not torch.cuda.is_available():
        raise EnvError("a GPU peak needs a GPU, torch finds none: run it on a machine with one")
    call = {"where": f"{function.__module__}:{function.__qualname__}", "params": dict(params)}
    return GpuPeak(**call_fresh(_peaks_after, call))


def _peaks_after(*, where: str, params: Mapping[str, Scalar]) -> dict[str, int]:
    """Call the function in this process, and return the allocator's peaks as JSON values."""
    import torch

    function_at(where)(**params)
    torch.cuda.synchronize()
    return {
        "allocated_bytes": torch.cuda.max_memory_allocated(),
        "reserved_bytes": torch.cuda.max_memory_reserved(),
    }
