"""Whether what stands for a module computes with its own weights or with the module's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from harness.errors import SpecError


class _Reads(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes which of some storages the operations of a block read."""

    def __init__(self, owned: Mapping[int, str]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.owned, self.read = owned, set[str]()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for leaf in tree_leaves((args, kwargs)):
            name = self.owned.get(_storage(leaf)) if isinstance(leaf, Tensor) else None
            if name is not None:
                self.read.add(name)
        return func(*args, **(kwargs or {}))


def run_without(owned: Mapping[str, Tensor], run: Callable[[], Any]) -> Any:
    """Return what a call returns that is to compute with other weights than a module's own.

    A copy of a module, or a call of it with weights of one's own, still computes with the module's
    where its forward pass goes through functions that have closed over the module or its tensors.
    owned: the module's tensors by name. Raises SpecError, naming one, where the call reads it.
    """
    with _Reads({_storage(tensor): name for name, tensor in owned.items()}) as reads:
        result = run()
    if reads.read:
        raise SpecError(
            f"the module computes with the {min(reads.read)} that a function inside it holds on to,"
            " and not with weights that are put in its place: have its forward pass reach all"
            " weights through `self`"
        )
    return result


def tensors_of(module: nn.Module) -> dict[str, Tensor]:
    """Return a module's parameters and buffers by name."""
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def _storage(tensor: Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)
