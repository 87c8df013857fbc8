"""The seeds of pilots and of the run of version 1, which no pilot has seen."""

from __future__ import annotations

from harness.declare.profiles import Profile

PILOT_SEEDS = tuple(range(900, 910))
"""What settings, controls and thresholds are chosen on, before the run."""
FIRST_SEED = 100
"""The first seed of the run of version 1."""
FRESH_SEED = 200
"""The first seed of a second run, with more seeds, where the first left a claim undecided."""


def seeds_of(profile: Profile, count: int = 5, *, first: int = FIRST_SEED) -> tuple[int, ...]:
    """Return the seeds of a grid: one at smoke, else `count` of a run.

    >>> seeds_of("cpu", count=3)
    (100, 101, 102)
    """
    return (0,) if profile == "smoke" else tuple(range(first, first + count))
