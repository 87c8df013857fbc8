"""The collectives of a schedule, run: in one ring of all ranks, or in PaRO-CC's two layers."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor

from harness.errors import SpecError
from reproductions.paro.method.engine.groups import Groups, Peers
from reproductions.paro.method.engine.layout import Layout
from reproductions.paro.method.engine.transport import Transport, transport_for
from reproductions.paro.method.engine.wire import Purpose, Wire
from reproductions.paro.method.schedule import Collective

World = Literal["flat", "two-layer"]
"""How all ranks gather and reduce; what stays within groups, or goes between them, is the same."""


class TwoLayer:
    """A ring between groups, and one in each group (PaRO-CC: Figure 2, section 4.4).

    A row are the parts of one group's ranks. While a row travels to the next group, the one that
    is there already spreads within this one: g - 1 times the longer of the two, and one of them
    more, which is `rings.row_pipeline_s`.
    """

    def __init__(self, transport: Transport, wire: Wire, groups: Groups) -> None:
        self.transport = transport
        self.wire = wire
        self.intra, self.inter = groups.peers("intra"), groups.peers("inter")

    def rows(self, chunks: list[Tensor]) -> list[list[Tensor]]:
        """Return parts by group."""
        m = len(self.intra.ranks)
        return [chunks[first : first + m] for first in range(0, len(chunks), m)]

    def all_gather(self, chunks: list[Tensor], peers: Peers) -> None:
        """Fill every chunk; peers are all ranks."""
        rows, local = self.rows(chunks), self.intra.place
        for hop in range(len(rows)):
            here = (self.inter.place - hop) % len(rows)
            if hop == len(rows) - 1:
                self.transport.all_gather(rows[here], self.intra)
            else:
                out, into = rows[here][local], rows[here - 1][local]
                wait = self.wire.exchange(out, into, self.inter)
                self.transport.all_gather(rows[here], self.intra)
                wait()

    def reduce_scatter(self, chunks: list[Tensor], peers: Peers) -> None:
        """Sum this rank's chunk, within groups first, row by row; peers are all ranks."""
        rows, local = self.rows(chunks), self.intra.place
        arrived = torch.empty_like(chunks[0])
        self.transport.reduce_scatter(rows[self.inter.place - 1], self.intra)
        for hop in range(len(rows) - 1):
            out = (self.inter.place - 1 - hop) % len(rows)
            wait = self.wire.exchange(rows[out][local], arrived, self.inter)
            self.transport.reduce_scatter(rows[out - 1], self.intra)
            wait()
            rows[out - 1][local].add_(arrived)


class Collectives:
    """Runs what a schedule names on flat buffers, in place."""

    def __init__(self, groups: Groups, world: World = "flat") -> None:
        if world not in get_args(World):
            raise SpecError(f"collectives={world!r}: one of {', '.join(get_args(World))}")
        self.groups = groups
        self.wire = Wire(groups)
        self.transport = transport_for(self.wire)
        self.of_all: Transport = (
            self.transport if world == "flat" else TwoLayer(self.transport, self.wire, groups)
        )

    def run(self, found: Collective, buffer: Tensor, layout: Layout, *, term: str) -> Tensor:
        """Run a collective and return what this rank then holds, a view of the buffer.

        buffer: flat and contiguous, all that the collective's ranks gather or reduce together; of
        a gather only this rank's part need be filled. Sums are not divided by anything.
        term: why, for the count of bytes.
        """
        peers = self.groups.peers(found.scope)
        chunks = layout.chunks(buffer, found.scope, peers.ranks)
        self.run_on(found, chunks, term=term)
        return chunks[peers.place] if found.kind == "reduce_scatter" else buffer

    def run_on(self, found: Collective, chunks: list[Tensor], *, term: str) -> None:
        """Run a collective on parts, one per rank in order, wherever they lie."""
        self.wire.purpose = Purpose(term, found)
        peers = self.groups.peers(found.scope)
        via = self.of_all if found.scope == "world" else self.transport
        if found.kind != "all_gather":
            via.reduce_scatter(chunks, peers)
        if found.kind != "reduce_scatter":
            via.all_gather(chunks, peers)
