"""Where what is asked of measured steps is decided."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from harness.declare import (
    CHECK,
    CPU,
    SMOKE_AND_CPU,
    Criterion,
    Scope,
    at_least,
    at_most,
    more_than,
    ours,
)
from reproductions.paro.measured_steps import quantities as q
from reproductions.paro.models.known_bytes import TOLD, in_time


def measured(*at: q.Where) -> Scope:
    """Return the scope of what is asked of steps that are timed on a testbed.

    at: which trials, whose links must carry known bytes in time. A claim on speed needs the links
    between groups alone: slower ones within work against the strategies that the paper favours.
    """
    asked = ours("DEV-45", profiles=CPU, elsewhere="steps of the quick run are too short to time")
    return asked.controlled(TOLD, in_time(partial(q.known_bytes, at=at)))


MEASURED = measured(q.RAIL)
"""A claim of the paper on speed, asked of ranks on a testbed."""
WHEN_SHARED = measured(q.SHARED).asked_by_us()
COUNTED = CHECK.at(*SMOKE_AND_CPU, elsewhere="there is no testbed at this scale")
LEAST_CORRELATION = 0.8


def faster(
    *pairs: tuple[str, str],
    where: q.Where = q.RAIL,
    at: Sequence[tuple[str, q.Where]] = (("", {}),),
) -> Criterion:
    """Ask that of every pair the first strategy is the faster one.

    at: where in turn, each with a word that tells its numbers from others.
    """
    ratios = partial(q.speed_ratios, pairs=pairs, at=tuple({**where, **more} for _, more in at))
    names = [f"{one} over {over}{word}" for word, _ in at for one, over in pairs]
    # One number alone is what the statement says.
    found = more_than(ratios, 1, "times the speed")
    return found.naming(*names) if len(names) > 1 else found


def follows_guideline(where: q.Where = q.RAIL) -> Criterion:
    """Ask that predicted and measured times are in one order."""
    return at_least(partial(q.rank_correlation, where=where), LEAST_CORRELATION, "rank correlation")


FOLLOWS = (
    "follows_guideline",
    MEASURED,
    follows_guideline(),
    "The guideline ranks the 14 strategies by speed with few errors.",
)
BEATS_MEMORY = (
    "guideline_beats_memory",
    MEASURED.asked_by_us(),
    more_than(q.better_than_memory, 0, "rank correlation").measuring(
        "the guideline's rank correlation less that of bytes held"
    ),
    "The guideline ranks strategies better than the rule that what holds more is faster.",
)
COUNTS = (
    "bytes_as_by_formula",
    COUNTED,
    at_most(q.byte_errors, 0, "bytes").naming("held", "sent"),
    "Every strategy holds and sends the bytes of the formulas.",
)
