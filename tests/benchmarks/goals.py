"""Types of the `goal` fixture, for annotations in benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from harness.measure.bench import Direction


class Record(Protocol):
    """Stores a measured value under its goal."""

    def __call__(
        self, measured: float, *, samples: Sequence[float] = (), note: str = ""
    ) -> None: ...


class GoalFixture(Protocol):
    """Declares a goal and returns what records its measured value."""

    def __call__(self, name: str, *, limit: float, unit: str, direction: Direction) -> Record: ...
