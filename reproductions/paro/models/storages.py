"""Bytes of tensors, each storage once."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor
from torch.distributed.tensor import DTensor


def bytes_by_storage(tensors: Iterable[Tensor]) -> dict[int, int]:
    """Return the bytes of this rank's storages of tensors; one that was freed has none."""
    parts = (each.to_local() if isinstance(each, DTensor) else each for each in tensors)
    storages = (part.untyped_storage() for part in parts)
    return {storage._cdata: storage.nbytes() for storage in storages}
