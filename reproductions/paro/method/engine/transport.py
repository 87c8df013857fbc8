"""All-gather and reduce-scatter in place, over parts that lie anywhere in a buffer.

Rings of our own for gloo: its reduce-scatter is an all-reduce per rank (PyTorch pull request
149869), which sends n times what a ring does. NCCL's are its own.
"""

from __future__ import annotations

from typing import Protocol

import torch
import torch.distributed as dist
from torch import Tensor

from reproductions.paro.method.engine.groups import Peers
from reproductions.paro.method.engine.wire import Wire


class Transport(Protocol):
    """Collectives of some ranks. chunks: one per rank, in their order, all of one size."""

    def all_gather(self, chunks: list[Tensor], peers: Peers) -> None:
        """Fill every chunk with that of its rank."""

    def reduce_scatter(self, chunks: list[Tensor], peers: Peers) -> None:
        """Bring this rank's chunk to its sum over ranks; the others are of no use afterwards."""


class Ring:
    """Each rank sends to the next and receives from the one before: (k - 1) / k of the bytes."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    def all_gather(self, chunks: list[Tensor], peers: Peers) -> None:
        """See `Transport`."""
        for hop in range(len(chunks) - 1):
            out = peers.place - hop
            into = chunks[(out - 1) % len(chunks)]
            self.wire.exchange(chunks[out % len(chunks)], into, peers)()

    def reduce_scatter(self, chunks: list[Tensor], peers: Peers) -> None:
        """See `Transport`."""
        arrived = torch.empty_like(chunks[peers.place])
        for hop in range(len(chunks) - 1):
            out = peers.place - 1 - hop
            self.wire.exchange(chunks[out % len(chunks)], arrived, peers)()
            chunks[(out - 1) % len(chunks)].add_(arrived)


class Library:
    """The backend's own collectives. Bytes are booked as a ring's; the backend may do otherwise."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    def all_gather(self, chunks: list[Tensor], peers: Peers) -> None:
        """See `Transport`."""
        self._count(chunks, peers)
        dist.all_gather(chunks, chunks[peers.place], group=peers.group)

    def reduce_scatter(self, chunks: list[Tensor], peers: Peers) -> None:
        """See `Transport`."""
        self._count(chunks, peers)
        total = torch.empty_like(chunks[peers.place])
        dist.reduce_scatter(total, chunks, group=peers.group)
        chunks[peers.place].copy_(total)

    def _count(self, chunks: list[Tensor], peers: Peers) -> None:
        self.wire.count((len(chunks) - 1) * chunks[0].nbytes, peers.after(1))


def transport_for(wire: Wire) -> Transport:
    """Return what suits the backend of the ranks at hand."""
    return Ring(wire) if dist.get_backend() == "gloo" else Library(wire)
