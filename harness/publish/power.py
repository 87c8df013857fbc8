"""How many seeds would decide what is undecided, at the mean and spread that were seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from harness.declare.claims import Claim
from harness.declare.statistics import CONFIDENCE, MIN_SEEDS
from harness.declare.verdict import Word, band, decide

POWER = 0.8
MOST = 10_000
"""More seeds than this nobody runs."""


def seeds_to_decide(claim: Claim, samples: Sequence[Sequence[float]]) -> int | None:
    """Return the fewest seeds with which a claim is decided with 80 % power; None if none are.

    samples: per seed the judged numbers, whose means and deviations are taken as true.

    >>> from harness.declare import at_least, by_theory
    >>> claim = Claim(id="a", statement="", where="", criterion=at_least(len, 0.0, ""),
    ...               scope=by_theory())
    >>> seeds_to_decide(claim, [[0.0], [1.0], [2.0]])
    10
    """
    low, high = band(claim.criterion)
    inside: list[int | None] = []
    outside: list[int | None] = []
    for values in zip(*samples, strict=True):
        if len(values) < 2 or not all(map(math.isfinite, values)):
            return None
        mean = math.fsum(values) / len(values)
        spread = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))
        if decide(claim, [[value] for value in values]).word != Word.INCONCLUSIVE:
            continue
        is_inside = low <= mean <= high
        (inside if is_inside else outside).append(_fewest(mean, spread, low, high))
    # One number outside the band decides against the claim, all inside decide for it.
    wanted = outside or inside
    if not wanted or None in wanted:
        return None
    numbers = [number for number in wanted if number is not None]
    return min(numbers) if outside else max(numbers)


def _fewest(mean: float, spread: float, low: float, high: float) -> int | None:
    """Return the fewest seeds whose interval leaves no bound inside it."""
    distances = [abs(mean - bound) for bound in (low, high) if math.isfinite(bound)]
    if not low <= mean <= high:
        distances = [min(distances)]
    if min(distances) == 0.0:
        return None

    def is_enough(count: int) -> bool:
        return 1.0 - sum(_missed(distance, spread, count) for distance in distances) >= POWER

    return _least(is_enough)


def _missed(distance: float, spread: float, count: int) -> float:
    """Return how often an interval of so many seeds reaches a bound at a distance."""
    from scipy.special import nctdtr, stdtrit

    if spread == 0.0:
        return 0.0
    quantile = stdtrit(count - 1, 0.5 + CONFIDENCE / 2)
    missed = float(nctdtr(count - 1, distance * math.sqrt(count) / spread, quantile))
    # It fails far out, where nothing is missed.
    return 0.0 if math.isnan(missed) else missed


def _least(is_enough: Callable[[int], bool]) -> int | None:
    """Return the least number of seeds that is enough, which more are too."""
    high = MIN_SEEDS
    while not is_enough(high):
        if high >= MOST:
            return None
        high = min(2 * high, MOST)
    low = max(MIN_SEEDS, high // 2)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return high
