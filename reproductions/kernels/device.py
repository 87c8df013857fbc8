"""What launches on a GPU share: it is made the current one, and numbers reach it without a wait."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor


def on(device: torch.device) -> AbstractContextManager[object]:
    """Make a GPU the current one: a kernel is launched there, wherever its tensors lie."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def brought(numbers: Sequence[object], dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return numbers on a device; the host does not wait until they are there.

    Memory that is pinned torch keeps until it has been copied.
    """
    pinned = device.type == "cuda"
    # Named, since a default device might be another one, whose memory cannot be pinned.
    here = torch.tensor(numbers, dtype=dtype, device="cpu", pin_memory=pinned)
    return here.to(device, non_blocking=True)
