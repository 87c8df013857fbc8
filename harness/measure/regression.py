"""Is it slower than it was? A rank test on samples relative to the machine's own speed."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness.measure.goals import Measured

MARGIN = 0.1
"""Share by which the whole distribution must be worse: runs on one machine differ by less."""
LEVEL = 0.01
"""Probability of the rank test below which a difference counts."""
TIMES = ("s", "ms")
"""Units that say how fast the machine is as well: they are compared relative to its control."""


SHARE = "share"
"""Unit of a part of something else, near zero or on either side of it: not divided by."""


class Change(StrEnum):
    """What became of a benchmark since its baseline."""

    REGRESSION = "regression"
    SAME = "no change"
    BETTER = "better"
    TOO_FEW = "too few samples"
    NEW = "not in the baseline"
    RECORDS = "from records"


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """A goal measured now beside the one of a baseline."""

    name: str
    unit: str
    before: float | None
    """What the baseline measured."""
    after: float
    ratio: float | None
    """Of the medians, now over before, both relative to the control where they are times; None
    of a share, which may be zero."""
    p_worse: float | None
    """Probability of samples so much worse than the baseline's made worse by the margin."""
    change: Change


def compare(
    before: Mapping[str, Measured], after: Sequence[Measured], *, margin: float = MARGIN
) -> list[Comparison]:
    """Return one comparison per goal of `after`, in its order.

    A regression is worse by more than `margin`: the one-sided test of Mann and Whitney, of the
    samples now against the baseline's moved by the margin, has p below `LEVEL`. Times must be so
    both as they are and relative to the control, which has an error of its own. The margin of a
    share is that part of its goal's limit. What is counted and has no spread is held to the margin
    itself; one number that was timed is not judged.
    """
    return [_compare(before.get(item.name), item, margin) for item in after]


def _compare(old: Measured | None, new: Measured, margin: float) -> Comparison:
    if old is None or new.from_records:
        change = Change.NEW if old is None else Change.RECORDS
        earlier, ratio, p_worse = old.measured if old else None, None, None
    else:
        earlier = old.measured
        then, now = relative(old), relative(new)
        ratio = None if new.goal.unit == SHARE else statistics.median(now) / statistics.median(then)
        p_worse, change = _decide(then, now, new, margin)
        if new.goal.unit in TIMES:
            _, as_they_are = _decide(old.samples, new.samples, new, margin)
            change = change if change is as_they_are else Change.SAME
    return Comparison(
        name=new.name, unit=new.goal.unit, before=earlier, after=new.measured, ratio=ratio,
        p_worse=p_worse, change=change,
    )  # fmt: skip


def _decide(
    then: Sequence[float], now: Sequence[float], item: Measured, margin: float
) -> tuple[float | None, Change]:
    """Return the probability of "no worse than the margin", and what it amounts to."""
    # As if less were better, whatever the goal's direction.
    if item.goal.direction == "at_least":
        then, now = [1 / s for s in then], [1 / s for s in now]
    worse, better = [s * (1 + margin) for s in then], [s / (1 + margin) for s in then]
    if item.goal.unit == SHARE:
        room = margin * item.goal.limit
        worse, better = [s + room for s in then], [s - room for s in then]
    if item.exact:
        (value,) = now
        word = Change.REGRESSION if value > worse[0] else Change.SAME
        return None, Change.BETTER if value < better[0] else word
    if 1 / math.comb(len(then) + len(now), len(now)) >= LEVEL:
        return None, Change.TOO_FEW
    p_worse = _p_greater(now, worse)
    if p_worse < LEVEL:
        return p_worse, Change.REGRESSION
    return p_worse, Change.BETTER if _p_greater(better, now) < LEVEL else Change.SAME


def _p_greater(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return the probability of ranks of `ours` so high, were both drawn alike."""
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(ours, theirs, alternative="greater").pvalue)


def relative(item: Measured) -> list[float]:
    """Return the samples, or the one value, in units of the machine's own work.

    A time times the machine's speed (the geometric mean of its copies and its products, before
    and after) is how many such operations could have been done meanwhile; ratios and counts stay.
    """
    values = item.samples or [item.measured]
    if item.goal.unit not in TIMES:
        return values
    speeds = [
        speed
        for told in item.controls
        for speed in (told["copy_gb_per_s"], told["matmul_gflop_per_s"])
    ]
    speed = statistics.geometric_mean(speeds)
    return [value * speed for value in values]
