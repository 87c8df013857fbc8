"""The collectives of a schedule, run: in one ring of all ranks, or in PaRO-CC's two layers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, get_args

from torch import Tensor

from harness.errors import SpecError
from reproductions.paro.method.engine.groups import Groups, Peers
from reproductions.paro.method.engine.layout import Layout
from reproductions.paro.method.engine.trace import Trace
from reproductions.paro.method.engine.transport import (
    Ring,
    Transport,
    add,
    room_for,
    transport_for,
)
from reproductions.paro.method.engine.wire import Part, Purpose, Wire
from reproductions.paro.method.schedule import Collective

World = Literal["flat", "two-layer"]
"""How all ranks gather and reduce; what stays within groups, or goes between them, is the same."""


class TwoLayer:
    """A ring between groups, and one in each group (PaRO-CC: Figure 2, section 4.4).

    A row is the parts of one group's ranks. While a row travels to the next group, the one that
    is there already spreads within this one: g - 1 times the longer of the two, and one of them
    more, which is `rings.row_pipeline_s`.
    """

    def __init__(self, transport: Transport, wire: Wire, groups: Groups) -> None:
        self.transport = transport
        # Its own hops are a ring's on any backend.
        self.ring = transport if isinstance(transport, Ring) else Ring(wire, Trace(is_on=False))
        self.intra, self.inter = groups.peers("intra"), groups.peers("inter")

    def rows(self, parts: list[Part]) -> list[list[Part]]:
        """Return parts by group."""
        m = len(self.intra.ranks)
        return [parts[first : first + m] for first in range(0, len(parts), m)]

    def _exchange(self, out: Part, into: Part) -> Callable[[], None]:
        """Start to send a part to the next group, and to receive one from the group before."""
        waits = [
            self.ring.exchange(sent, received, self.inter, tag)
            for tag, (sent, received) in enumerate(zip(out, into, strict=True))
        ]

        def wait() -> None:
            for each in waits:
                each()

        return wait

    def all_gather(self, parts: list[Part], peers: Peers) -> None:
        """Fill every part; peers are all ranks."""
        rows, local = self.rows(parts), self.intra.place
        for hop in range(len(rows)):
            here = (self.inter.place - hop) % len(rows)
            if hop == len(rows) - 1:
                self.transport.all_gather(rows[here], self.intra)
            else:
                out, into = rows[here][local], rows[here - 1][local]
                wait = self._exchange(out, into)
                self.transport.all_gather(rows[here], self.intra)
                wait()

    def reduce_scatter(self, parts: list[Part], peers: Peers) -> None:
        """Sum this rank's part, within groups first, row by row; peers are all ranks."""
        rows, local = self.rows(parts), self.intra.place
        arrived = room_for(parts[0])
        self.transport.reduce_scatter(rows[self.inter.place - 1], self.intra)
        for hop in range(len(rows) - 1):
            out = (self.inter.place - 1 - hop) % len(rows)
            wait = self._exchange(rows[out][local], arrived)
            self.transport.reduce_scatter(rows[out - 1], self.intra)
            wait()
            add(rows[out - 1][local], arrived)

    def all_reduce(self, buffers: Sequence[Tensor], parts: list[Part], peers: Peers) -> None:
        """Sum whole buffers; peers are all ranks."""
        self.reduce_scatter(parts, peers)
        self.all_gather(parts, peers)


class Collectives:
    """Runs what a schedule names on flat buffers, in place."""

    def __init__(
        self, groups: Groups, world: World = "flat", *, trace: Trace | None = None
    ) -> None:
        if world not in get_args(World):
            raise SpecError(f"collectives={world!r}: one of {', '.join(get_args(World))}")
        self.groups = groups
        self.wire = Wire(groups)
        self.trace = trace or Trace(is_on=False)
        self.transport = transport_for(self.wire, self.trace)
        self.of_all: Transport = (
            self.transport if world == "flat" else TwoLayer(self.transport, self.wire, groups)
        )

    def run(
        self, found: Collective, buffers: list[Tensor], layouts: list[Layout], *, term: str,
        units: Iterable[str] = (),
    ) -> list[Tensor]:  # fmt: skip
        """Run a collective and return what this rank then holds, views of the buffers.

        buffers: flat and contiguous, all that the collective's ranks gather or reduce together; of
        a gather only this rank's part need be filled. Sums are not divided by anything.
        term: why, for the count of bytes; units: whose, for a trace.
        """
        peers = self.groups.peers(found.scope)
        by_buffer = [
            layout.parts(buffer, found.scope, peers.ranks)
            for buffer, layout in zip(buffers, layouts, strict=True)
        ]
        parts: list[Part] = [list(of_rank) for of_rank in zip(*by_buffer, strict=True)]
        self.run_on(found, parts, term=term, units=units, buffers=buffers)
        return parts[peers.place] if found.kind == "reduce_scatter" else buffers

    def run_on(
        self, found: Collective, parts: list[Part], *, term: str, units: Iterable[str] = (),
        buffers: Sequence[Tensor] = (),
    ) -> None:  # fmt: skip
        """Run a collective on parts, one per rank in order, wherever they lie.

        buffers: of an all-reduce what the parts make up.
        """
        self.wire.purpose = Purpose(term, found)
        peers = self.groups.peers(found.scope)
        via = self.of_all if found.scope == "world" else self.transport
        with self.trace.collective(found, parts, term, units, self.wire.sent_bytes.values()):
            match found.kind:
                case "reduce_scatter":
                    via.reduce_scatter(parts, peers)
                case "all_gather":
                    via.all_gather(parts, peers)
                case "all_reduce":
                    via.all_reduce(buffers, parts, peers)
