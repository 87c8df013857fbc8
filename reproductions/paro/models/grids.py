"""Grids of trials that take next to no time, or are at the paper's scale on any machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from harness.declare import Params, Profile

P = TypeVar("P", bound=Params)


def grid_of(smoke: Sequence[P], cpu: Sequence[P] = ()) -> Callable[[Profile], Iterator[P]]:
    """Return the grid that has these points at `smoke`, and at `cpu` others or the same."""

    def grid(profile: Profile) -> Iterator[P]:
        yield from {"smoke": smoke, "cpu": cpu or smoke}.get(profile, ())

    return grid
