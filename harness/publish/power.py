"""How many seeds would decide what is undecided, at the mean and spread that were seen."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from harness.declare.criterion import Criterion
from harness.declare.statistics import CONFIDENCE, MIN_SEEDS
from harness.declare.verdict import Word, band, decide

POWER = 0.8
MOST = 10_000
"""More seeds than this nobody runs."""


def seeds_to_decide(criterion: Criterion, samples: Sequence[Sequence[float]]) -> int | None:
    """Return the fewest seeds with which a claim is decided with 80 % power; None if none are.

    samples: per seed the judged numbers, whose means and deviations are taken as true.

    >>> from harness.declare import at_least
    >>> seeds_to_decide(at_least(len, 0.0, ""), [[0.0], [1.0], [2.0]])
    10
    """
    low, high = band(criterion)
    one = replace(criterion, at_least_of=None)
    inside: list[float] = []
    outside: list[float] = []
    for values in zip(*samples, strict=True):
        if len(values) < 2 or not all(map(math.isfinite, values)):
            return None
        mean = math.fsum(values) / len(values)
        spread = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))
        is_decided = decide(one, [[value] for value in values]).word != Word.UNDECIDED
        fewest = 0 if is_decided else _fewest(mean, spread, low, high) or math.inf
        (inside if low <= mean <= high else outside).append(fewest)
    # So many inside the band decide for the claim, so many outside that too few are left against.
    count = len(inside) + len(outside)
    needed = criterion.at_least_of or count
    enough = sorted(inside)[needed - 1 :] or sorted(outside)[count - needed :]
    return int(enough[0]) if enough and 0 < enough[0] < math.inf else None


def _fewest(mean: float, spread: float, low: float, high: float) -> int | None:
    """Return the fewest seeds whose interval leaves no bound inside it."""
    distances = [abs(mean - bound) for bound in (low, high) if math.isfinite(bound)]
    if not low <= mean <= high:
        distances = [min(distances)]
    if min(distances) == 0.0:
        return None

    def is_enough(count: int) -> bool:
        return 1.0 - sum(_missed(distance, spread, count) for distance in distances) >= POWER

    # What is enough, more are too.
    fewest = MIN_SEEDS + bisect_left(range(MIN_SEEDS, MOST + 1), True, key=is_enough)
    return fewest if fewest <= MOST else None


def _missed(distance: float, spread: float, count: int) -> float:
    """Return how often an interval of so many seeds reaches a bound at a distance."""
    from scipy.special import nctdtr, stdtrit

    if spread == 0.0:
        return 0.0
    quantile = stdtrit(count - 1, 0.5 + CONFIDENCE / 2)
    missed = float(nctdtr(count - 1, distance * math.sqrt(count) / spread, quantile))
    # It fails far out, where nothing is missed.
    return 0.0 if math.isnan(missed) else missed
