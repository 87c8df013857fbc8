"""All-gather and reduce-scatter in place, over parts that lie anywhere in a buffer.

Rings of our own for gloo: its reduce-scatter is an all-reduce per rank (PyTorch pull request
149869), which sends n times what a ring does. NCCL's are its own, on whole buffers where a kernel
puts blocks in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch
import torch.distributed as dist
from torch import Tensor

from reproductions.kernels.backend import DTYPES, choose, chosen
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
        # Now, for all: backward passes on a GPU run in threads that do not know what was asked for.
        self.moves = choose(torch.device(wire.groups.device_type))

    def all_gather(self, parts: list[Part], peers: Peers) -> None:
        """See `Transport`."""
        self._count(parts, peers)
        for of_ranks in zip(*parts, strict=True):
            mine, blocks = of_ranks[peers.place], self._interleaved(of_ranks)
            if blocks is None:
                dist.all_gather(list(of_ranks), mine, group=peers.group)
            else:
                whole_N, num_groups, group_size, kernel = blocks
                by_rank_N = torch.empty_like(whole_N)
                dist.all_gather_into_tensor(by_rank_N, mine, group=peers.group)
                kernel.rearrange(by_rank_N, num_groups, group_size, whole_N.dtype, out_N=whole_N)

    def reduce_scatter(self, parts: list[Part], peers: Peers) -> None:
        """See `Transport`."""
        self._count(parts, peers)
        for of_ranks in zip(*parts, strict=True):
            mine, blocks = of_ranks[peers.place], self._interleaved(of_ranks)
            if blocks is None:
                total = torch.empty_like(mine)
                dist.reduce_scatter(total, list(of_ranks), group=peers.group)
                mine.copy_(total)
            else:
                whole_N, num_groups, group_size, kernel = blocks
                by_rank_N = kernel.rearrange(whole_N, group_size, num_groups, whole_N.dtype)
                dist.reduce_scatter_tensor(mine, by_rank_N, group=peers.group)

    def all_reduce(self, buffers: Sequence[Tensor], parts: list[Part], peers: Peers) -> None:
        """See `Transport`."""
        self.wire.count(2 * bytes_of_a_ring(parts), peers.after(1))
        for buffer in buffers:
            dist.all_reduce(buffer, group=peers.group)

    def _count(self, parts: list[Part], peers: Peers) -> None:
        self.wire.count(bytes_of_a_ring(parts), peers.after(1))

    def _interleaved(self, of_ranks: Sequence[Tensor]) -> tuple[Tensor, int, int, Any] | None:
        """Return what `interleaved` does, and the kernel that moves it; None where none does.

        A kernel moves all blocks at once, where the backend's own on a list copies one after the
        other.
        """
        found = None if self.moves == "plain" else interleaved(of_ranks)
        if found is None:
            return None
        # It converts by way of float32.
        dtype = of_ranks[0].dtype
        why_not = "" if dtype in DTYPES else str(dtype).removeprefix("torch.")
        kernel = chosen("shard_pack", of_ranks[0].device, self.moves, why_not=why_not)
        return (*found, kernel)


def interleaved(of_ranks: Sequence[Tensor]) -> tuple[Tensor, int, int] | None:
    """Return the buffer that parts make up by place in a group and then by group, and both numbers.

    A collective on the whole of it needs blocks by rank. None where they lie otherwise.

    >>> first, second, third, fourth = torch.arange(4.0).split(1)
    >>> interleaved([first, third, second, fourth])
    (tensor([0., 1., 2., 3.]), 2, 2)
    >>> interleaved([first, second, third, fourth]) is None
    True
    """
    first, num_ranks = of_ranks[0], len(of_ranks)
    start, size = first.storage_offset(), first.numel()
    if num_ranks == 1 or not size:
        return None
    num_groups = (of_ranks[1].storage_offset() - start) // size
    if not 1 < num_groups < num_ranks or num_ranks % num_groups:
        return None
    group_size = num_ranks // num_groups
    by_place = [of_ranks[place::group_size] for place in range(group_size)]
    whole = as_one([part for parts in by_place for part in parts])
    return None if whole is None else (whole, num_groups, group_size)


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
