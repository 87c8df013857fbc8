"""How many seeds would decide what is undecided, at the mean and spread that were seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from harness.declare.claims import Claim
from harness.declare.profiles import Profile
from harness.declare.statistics import CONFIDENCE, MIN_SEEDS
from harness.declare.task import Task
from harness.declare.verdict import Word, band, decide, measure
from harness.publish.check_row import CheckRow
from harness.store.result import TaskResult

POWER = 0.8
MOST = 10_000
"""More seeds than this nobody runs."""
SPREAD = "at the mean and spread that were seen"


@dataclass(frozen=True, kw_only=True, slots=True)
class Needed:
    """What would decide an undecided claim."""

    by: Literal["seeds", "too many seeds", "a second seed", "something else"]
    """Seeds; more of them than anybody runs; a second one, before that is known; or what its
    reason names, whatever the seeds."""
    told: str
    """The same in words."""


NeededBy = Mapping[tuple[str, str], Needed]
"""By claim and cohort, of claims that are undecided."""


def needed(row: CheckRow, claim: Claim | None, task: Task, result: TaskResult) -> Needed | None:
    """Return what would decide a claim that is undecided on a stored result; None of any other."""
    if row.verdict != Word.INCONCLUSIVE or claim is None:
        return None
    if row.seeds_to_decide is not None:
        told = f"about {row.seeds_to_decide} seeds would decide it {SPREAD}"
        return Needed(by="seeds", told=told)
    profile = cast(Profile, result.meta.profile)
    measured = measure(claim, result.tables[row.cohort], seed=task.table.seed, profile=profile)
    samples = [list(sample) for sample in measured.samples]
    if not samples:
        told = "nothing was measured that more seeds would decide"
        return Needed(by="something else", told=told)
    if len(samples) < 2:
        return Needed(by="a second seed", told="one seed has no spread to say how many it takes")
    if not measured.doubt:
        told = f"more than {MOST} seeds would be needed to decide it {SPREAD}"
        return Needed(by="too many seeds", told=told)
    count = seeds_to_decide(claim, samples)
    enough = f"about {count}" if count else f"more than {MOST} seeds"
    if decide(claim, samples).word != Word.INCONCLUSIVE:
        enough = "these seeds"
    settled = f"were it settled, {enough} would decide it"
    return Needed(by="something else", told=f"no number of seeds settles that; {settled}")


def all_needed(task: Task, rows: Sequence[CheckRow], result: TaskResult) -> NeededBy:
    """Return what would decide those rows that are undecided."""
    claims = {claim.id: claim for claim in task.claims}
    found = {(r.claim, r.cohort): needed(r, claims.get(r.claim), task, result) for r in rows}
    return {name: what for name, what in found.items() if what is not None}


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
    one = replace(claim, criterion=replace(claim.criterion, at_least_of=None))
    inside: list[float] = []
    outside: list[float] = []
    for values in zip(*samples, strict=True):
        if len(values) < 2 or not all(map(math.isfinite, values)):
            return None
        mean = math.fsum(values) / len(values)
        spread = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))
        is_decided = decide(one, [[value] for value in values]).word != Word.INCONCLUSIVE
        fewest = 0 if is_decided else _fewest(mean, spread, low, high) or math.inf
        (inside if low <= mean <= high else outside).append(fewest)
    # So many inside the band decide for the claim, so many outside that too few are left against.
    count = len(inside) + len(outside)
    needed = claim.criterion.at_least_of or count
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
