"""All-gather and reduce-scatter in place, over parts that lie anywhere in a buffer.

Rings of our own for gloo: its reduce-scatter is an all-reduce per rank (PyTorch pull request
149869), which sends n times what a ring does. NCCL's are its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import torch
import torch.distributed as dist
from torch import Tensor

from reproductions.paro.method.engine.groups import Peers
from reproductions.paro.method.engine.trace import Trace
from reproductions.paro.method.engine.wire import Part, Wire

BUCKET_BYTES = 25 * 2**20
"""How much is summed in one call: what DDP takes."""


class Transport(Protocol):
    """Collectives of some ranks. parts: one per rank, in their order, of the same sizes."""

    def all_gather(self, parts: list[Part], peers: Peers) -> None:
        """Fill every part with that of its rank."""

    def reduce_scatter(self, parts: list[Part], peers: Peers) -> None:
        """Bring this rank's part to its sum over ranks; the others are of no use afterwards."""

    def all_reduce(self, buffers: Sequence[Tensor], parts: list[Part], peers: Peers) -> None:
        """Bring buffers, of which parts are the parts, to their sum over ranks."""


class Ring:
    """Each rank sends to the next and receives from the one before: (k - 1) / k of the bytes.

    Each buffer goes on to its next hop as soon as its last is done, whatever others wait for.
    """

    def __init__(self, wire: Wire, trace: Trace) -> None:
        self.wire, self.trace = wire, trace

    def exchange(self, out: Tensor, into: Tensor, peers: Peers, tag: int) -> Callable[[], None]:
        """Start a hop of a ring; return what waits for it."""
        start_s = self.trace.now()
        wait = self.wire.exchange(out, into, peers, tag=tag)

        def finish() -> None:
            wait()
            self.trace.sent(start_s, out, peers.after(1))

        return finish

    def all_gather(self, parts: list[Part], peers: Peers) -> None:
        """See `Transport`."""

        def start(buffer: int, hop: int) -> Callable[[], None]:
            out = peers.place - hop
            sent, received = parts[out % len(parts)], parts[(out - 1) % len(parts)]
            return self.exchange(sent[buffer], received[buffer], peers, buffer)

        in_turn(len(parts) - 1, len(parts[0]), start)

    def reduce_scatter(self, parts: list[Part], peers: Peers) -> None:
        """See `Transport`."""
        arrived = room_for(parts[peers.place])

        def start(buffer: int, hop: int) -> Callable[[], None]:
            out = peers.place - 1 - hop
            wait = self.exchange(parts[out % len(parts)][buffer], arrived[buffer], peers, buffer)

            def finish() -> None:
                wait()
                parts[(out - 1) % len(parts)][buffer].add_(arrived[buffer])

            return finish

        in_turn(len(parts) - 1, len(parts[0]), start)

    def all_reduce(self, buffers: Sequence[Tensor], parts: list[Part], peers: Peers) -> None:
        """See `Transport`. gloo's own, a ring too, unless messages are paced or traced."""
        if self.wire.pace is not None or self.trace.is_on:
            self.reduce_scatter(parts, peers)
            self.all_gather(parts, peers)
            return
        to, source = peers.after(1), peers.after(-1)
        self.wire.count(2 * bytes_of_a_ring(parts), to)
        with self.wire.telling(to, source):
            for bucket in buckets_of(buffers):
                # A call of gloo takes milliseconds beside its bytes.
                joined = as_one(bucket)
                together = torch.cat(bucket) if joined is None else joined
                dist.all_reduce(together, group=peers.group)
                if joined is None:
                    sums = torch.split(together, [each.numel() for each in bucket])
                    torch._foreach_copy_(bucket, list(sums))


def buckets_of(buffers: Sequence[Tensor]) -> list[list[Tensor]]:
    """Return buffers that go together: neighbours of one type, up to so many bytes.

    >>> [len(each) for each in buckets_of([torch.zeros(3 * 2**20) for _ in range(5)])]
    [2, 2, 1]
    """
    found: list[list[Tensor]] = []
    for buffer in buffers:
        held = sum(each.nbytes for each in found[-1]) if found else BUCKET_BYTES
        if found and found[-1][0].dtype == buffer.dtype and held + buffer.nbytes <= BUCKET_BYTES:
            found[-1].append(buffer)
        else:
            found.append([buffer])
    return found


def as_one(bucket: Sequence[Tensor]) -> Tensor | None:
    """Return flat buffers that lie behind one another as one view; None where they do not."""
    first, storage = bucket[0], bucket[0].untyped_storage().data_ptr()
    end = first.storage_offset()
    for each in bucket:
        if each.untyped_storage().data_ptr() != storage or each.storage_offset() != end:
            return None
        end += each.numel()
    return first.as_strided((end - first.storage_offset(),), (1,))


def bytes_of_a_ring(parts: list[Part]) -> int:
    """Return the bytes that a rank sends while parts go once round."""
    return (len(parts) - 1) * sum(each.nbytes for each in parts[0])


def in_turn(
    num_hops: int, num_buffers: int, start: Callable[[int, int], Callable[[], None]]
) -> None:
    """Run hops of several buffers; start(buffer, hop) begins one and returns what finishes it."""
    under_way = [start(buffer, 0) for buffer in range(num_buffers)] if num_hops else []
    for hop in range(1, num_hops + 1):
        for buffer, finish in enumerate(under_way):
            finish()
            if hop < num_hops:
                under_way[buffer] = start(buffer, hop)


class Library:
    """The backend's own collectives. Bytes are booked as a ring's; the backend may do otherwise."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    def all_gather(self, parts: list[Part], peers: Peers) -> None:
        """See `Transport`."""
        self._count(parts, peers)
        for of_ranks in zip(*parts, strict=True):
            dist.all_gather(list(of_ranks), of_ranks[peers.place], group=peers.group)

    def reduce_scatter(self, parts: list[Part], peers: Peers) -> None:
        """See `Transport`."""
        self._count(parts, peers)
        for of_ranks in zip(*parts, strict=True):
            total = torch.empty_like(of_ranks[peers.place])
            dist.reduce_scatter(total, list(of_ranks), group=peers.group)
            of_ranks[peers.place].copy_(total)

    def all_reduce(self, buffers: Sequence[Tensor], parts: list[Part], peers: Peers) -> None:
        """See `Transport`."""
        self.wire.count(2 * bytes_of_a_ring(parts), peers.after(1))
        for buffer in buffers:
            dist.all_reduce(buffer, group=peers.group)

    def _count(self, parts: list[Part], peers: Peers) -> None:
        self.wire.count(bytes_of_a_ring(parts), peers.after(1))


def room_for(part: Part) -> Part:
    """Return buffers to receive a part in."""
    return [torch.empty_like(each) for each in part]


def add(part: Part, other: Part) -> None:
    """Add one part to another."""
    for total, each in zip(part, other, strict=True):
        total.add_(each)


def transport_for(wire: Wire, trace: Trace) -> Transport:
    """Return what suits the backend of the ranks at hand; messages of rings alone are traced."""
    return Ring(wire, trace) if dist.get_backend() == "gloo" else Library(wire)
