"""Messages between ranks, and how many bytes each operation sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch.distributed as dist
from torch import Tensor

from harness.errors import RunError
from reproductions.paro.method.engine.groups import Groups, Peers
from reproductions.paro.method.engine.pace import pace_here
from reproductions.paro.method.schedule import Collective

Part = list[Tensor]
"""What a rank has of some buffers that move together; each contiguous."""


@dataclass(frozen=True, slots=True)
class Purpose:
    """Why bytes are sent: the term of a step's time, or a word for what is in no step."""

    term: str
    collective: Collective


@dataclass(frozen=True, slots=True)
class Sent:
    """A kind of traffic."""

    purpose: Purpose
    leaves_group: bool


class Wire:
    """Sends to one rank while it receives from another, and counts what it sends."""

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self.sent_bytes: Counter[Sent] = Counter()
        self.purpose: Purpose | None = None
        self.pace = pace_here()

    def exchange(
        self, out: Tensor, into: Tensor, peers: Peers, *, tag: int = 0
    ) -> Callable[[], None]:
        """Start to send `out` to the next rank of a ring and to receive `into` from the one before.

        tag: tells what is under way between two ranks at once apart. Returns what waits for both.
        Either raises RunError if a rank is gone.
        """
        to, source = peers.after(1), peers.after(-1)
        self.count(out.nbytes, to)
        waits: list[Callable[[], object]]
        receive = dist.P2POp(dist.irecv, into, source, peers.group, tag)
        with self.telling(to, source):
            if self.pace is not None and self.leaves(to):
                waits = [each.wait for each in dist.batch_isend_irecv([receive])]
                waits.append(self.pace.send(
                    out.nbytes, lambda: dist.send(out, to, group=peers.group, tag=tag)
                ).result)  # fmt: skip
            else:
                # The receive first: gloo tells the other rank of it on the connection of what is
                # sent, and behind that two ranks would take turns. Its wait is the last: what a
                # thread of gloo has sent it lets go of a moment later.
                send = dist.P2POp(dist.isend, out, to, peers.group, tag)
                works = dist.batch_isend_irecv([receive, send])
                waits = [each.wait for each in reversed(works)]

        def wait() -> None:
            with self.telling(to, source):
                for each in waits:
                    each()

        return wait

    @contextmanager
    def telling(self, to: int, source: int) -> Iterator[None]:
        """Raise RunError that names the ranks where a message to or from them fails."""
        try:
            yield
        except RuntimeError as error:
            lost = " or ".join(str(rank) for rank in sorted({to, source}))
            raise RunError(
                f"rank {self.groups.rank} lost rank {lost}, which ended or hangs: see"
                f" what that one says, and go on from the last checkpoint ({error})"
            ) from error

    def count(self, num_bytes: int, to: int) -> None:
        """Book bytes that go to a rank."""
        assert self.purpose is not None
        self.sent_bytes[Sent(self.purpose, self.leaves(to))] += num_bytes

    def leaves(self, to: int) -> bool:
        """Say whether a rank is of another group."""
        return self.groups.group_of(to) != self.groups.group_of(self.groups.rank)
