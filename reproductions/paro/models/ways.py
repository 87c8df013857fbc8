"""Ways to train a net on ranks, in one shape: by the engine, by DDP, by FSDP2."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from torch import Tensor, nn
from torch.distributed.fsdp import FSDPModule


@dataclass(frozen=True, slots=True)
class Way:
    """A net that is trained, and how."""

    net: nn.Module
    step: Callable[[], float]
    """Ends an optimizer step; returns the gradient's norm, where that is taken."""
    waiting: Callable[[], AbstractContextManager[None]] = nullcontext
    """Around the passes of all micro-batches but the last."""

    def passes(self, batches: Sequence[Tensor], loss_of: Callable[[Tensor], Tensor]) -> float:
        """Run both passes of an optimizer step's micro-batches; return their mean loss.

        loss_of: of a micro-batch.
        """
        total = 0.0
        for place, batch in enumerate(batches, start=1):
            with nullcontext() if place == len(batches) else self.waiting():
                loss = loss_of(batch) / len(batches)
                loss.backward()
            total += loss.item()
        return total


@contextmanager
def apart_between_groups(net: FSDPModule) -> Iterator[None]:
    """Let FSDP2 sum no gradients between groups in the backward passes inside."""
    net.set_requires_all_reduce(False)
    yield
    net.set_requires_all_reduce(True)
