"""What an engine does and when: computation, collectives, and the messages that they are of."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from reproductions.paro.method.schedule import Collective

Work = Literal["forward", "backward", "optimizer", "collective", "message"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that a rank did; forward and backward passes of units lie in one another."""

    work: Work
    start_s: float
    """By the clock of `time.perf_counter`, which all processes of a machine share."""
    end_s: float
    units: tuple[str, ...] = ()
    term: str = ""
    """Of a step's time; of collectives and their messages."""
    collective: Collective | None = None
    num_bytes: int = 0
    """That this rank sent."""
    part: int = -1
    """Of a message: whose part it carries, by place in the collective."""
    to: int = -1
    """Of a message: the rank that it goes to."""


class Trace:
    """Records events, of collectives and units alike; one that is off costs a test per event.

    trace = Trace()
    engine = Paro(model, mesh, "IIG", optimizer=optimizer, trace=trace)
    ...
    for event in trace.in_order(): ...
    """

    def __init__(self, *, is_on: bool = True) -> None:
        self.is_on = is_on
        self.events: list[Event] = []
        self._part_of: dict[int, int] = {}
        self._purpose: tuple[str, Collective | None] = ("", None)

    def in_order(self) -> list[Event]:
        """Return events by when they started."""
        return sorted(self.events, key=lambda event: event.start_s)

    def now(self) -> float:
        """Return the time, or nothing where it is off."""
        return time.perf_counter() if self.is_on else 0.0

    def did(self, work: Work, start_s: float, *units: str) -> None:
        """Record computation that ends now."""
        if self.is_on:
            self.events.append(Event(work=work, start_s=start_s, end_s=self.now(), units=units))

    @contextmanager
    def collective(
        self, found: Collective, parts: list[list[Tensor]], term: str, units: Iterable[str],
        sent_bytes: Iterable[int],
    ) -> Iterator[None]:  # fmt: skip
        """Record a collective that runs inside. sent_bytes: counts, read before and after."""
        if not self.is_on:
            yield
            return
        self._part_of = {each.data_ptr(): i for i, part in enumerate(parts) for each in part}
        self._purpose = (term, found)
        before, start_s = sum(sent_bytes), self.now()
        yield
        self.events.append(Event(
            work="collective", start_s=start_s, end_s=self.now(), units=tuple(dict.fromkeys(units)),
            term=term, collective=found, num_bytes=sum(sent_bytes) - before,
        ))  # fmt: skip

    def sent(self, start_s: float, out: Tensor, to: int) -> None:
        """Record a message whose exchange ends now."""
        if self.is_on:
            term, found = self._purpose
            self.events.append(Event(
                work="message", start_s=start_s, end_s=self.now(), term=term, collective=found,
                num_bytes=out.nbytes, part=self._part_of.get(out.data_ptr(), -1), to=to,
            ))  # fmt: skip
