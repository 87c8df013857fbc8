"""Typed claims, and the rule that turns one and a table into a verdict.

`evaluate` is pure: a claim and a table in, a verdict out. Nothing here touches a disk.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from harness.errors import SpecError
from harness.provenance.cohorts import FIRST
from harness.statistics import (
    MIN_SEEDS,
    Interval,
    InvalidQuantity,
    MissingRows,
    t_interval,
)
from harness.task import PROFILES, Columns, Profile

if TYPE_CHECKING:
    import pandas as pd

Form = Literal["at_most", "at_least", "within", "equal", "ordering", "monotone", "ratio"]
Grade = Literal["exact", "empirical"]
ThresholdFrom = Literal["paper", "theory", "calibration"]
Threshold = float | tuple[float, float]
Quantity = Callable[["pd.DataFrame"], "float | Sequence[float]"]
PaperValue = Callable[["pd.DataFrame"], "float | None"]


class Word(StrEnum):
    """A verdict in one word; the first three are decided, the last three carry a reason."""

    REPRODUCED = "REPRODUCED"
    NOT_REPRODUCED = "NOT_REPRODUCED"
    INCONCLUSIVE = "INCONCLUSIVE"
    OUT_OF_PROFILE = "OUT_OF_PROFILE"
    NOT_RUN = "NOT_RUN"
    ERROR = "ERROR"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Claim:
    """One checkable statement of the paper, evaluated on a task's table."""

    id: str
    """Short word, unique in its task."""
    statement: str
    """The claim in our words."""
    where: str
    """Where the paper says it."""
    form: Form
    grade: Grade
    """`exact`: an identity, formula or count; `empirical`: everything else."""
    quantity: Quantity
    """From the table of one seed (the whole table where `deterministic`) to a number.

    `ratio` needs (numerator, denominator), both positive; `ordering` and `monotone` need at
    least two numbers claimed to ascend. May raise InvalidQuantity or MissingRows.
    """
    threshold: Threshold
    """`within` and `ratio`: (low, high), which may be infinite; `ordering` and `monotone`: the
    slack allowed to each step; `equal`: the expected value; else the bound."""
    threshold_from: ThresholdFrom
    profiles: tuple[Profile, ...]
    """Where it is decidable; elsewhere the verdict is OUT_OF_PROFILE."""
    out_of_profile: str = "this scale cannot show it"
    """Why the other profiles cannot decide it."""
    tolerance: float = 0.0
    """Of `equal`: the largest absolute difference."""
    deterministic: bool = False
    """The quantity has no seeds: it is taken once, on the whole table, and has no interval."""
    unit: str = ""
    paper_value: PaperValue | None = None
    """From the paper's reference rows to its number for this quantity; None: not published."""
    cohort: str = FIRST
    """The cohort of seeds that judges it, alone; verdicts of other cohorts are shown beside."""

    def __post_init__(self) -> None:
        pair = isinstance(self.threshold, tuple)
        if pair != (self.form in ("within", "ratio")):
            raise SpecError(f"claim {self.id}: form {self.form} does not fit {self.threshold}")
        bounds = self.threshold if isinstance(self.threshold, tuple) else (self.threshold,)
        if any(math.isnan(bound) for bound in bounds) or bounds[0] > bounds[-1]:
            raise SpecError(f"claim {self.id}: threshold {self.threshold}: nothing can meet it")
        if self.form == "ratio" and bounds[-1] <= 0:
            raise SpecError(f"claim {self.id}: threshold {self.threshold}: a ratio is positive")
        if not self.tolerance >= 0.0:
            raise SpecError(f"claim {self.id}: tolerance={self.tolerance}, need at least 0")
        if self.form == "equal" and not self.deterministic:
            raise SpecError(f"claim {self.id}: equality over seeds must be one number for all")
        if not self.profiles or not set(self.profiles) <= set(PROFILES):
            raise SpecError(f"claim {self.id}: profiles={self.profiles}, need some of {PROFILES}")
        # A number measured in the paper's setting says nothing about another scale.
        if (
            self.grade == "empirical"
            and self.threshold_from == "paper"
            and (self.profiles != ("paper",))
        ):
            raise SpecError(f"claim {self.id}: a threshold of the paper is decided at `paper` only")


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What a claim came to on one table."""

    word: Word
    reason: str = ""
    measured: float | None = None
    low: float | None = None
    high: float | None = None
    num_seeds: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """A verdict with the numbers it was decided by."""

    verdict: Verdict
    seeds: tuple[int, ...] = ()
    """In the order of the samples; empty where the quantity has no seeds."""
    samples: tuple[tuple[float, ...], ...] = ()
    """Per seed the judged numbers: one, or each step of an ordering; empty where there is none."""


def evaluate(claim: Claim, table: pd.DataFrame, *, columns: Columns, profile: Profile) -> Verdict:
    """Decide a claim on a task's complete table.

    An evaluation that raises is ERROR, never NOT_REPRODUCED: a crash is no evidence.
    """
    return measure(claim, table, columns=columns, profile=profile).verdict


def measure(claim: Claim, table: pd.DataFrame, *, columns: Columns, profile: Profile) -> Measured:
    """Decide a claim as `evaluate` does, and return what it was decided by."""
    if profile not in claim.profiles:
        return Measured(verdict=Verdict(word=Word.OUT_OF_PROFILE, reason=claim.out_of_profile))
    samples: list[list[float]] = []
    seeds: list[int] = []
    try:
        pooled = claim.deterministic or columns.seed is None
        seeds = [] if pooled else sorted({int(seed) for seed in table[columns.seed]})
        samples = samples_per_seed(claim, table, columns.seed)
        verdict = decide(claim, samples)
    except InvalidQuantity as error:
        verdict = Verdict(word=Word.INCONCLUSIVE, reason=str(error))
    except MissingRows as error:
        verdict = Verdict(word=Word.NOT_RUN, reason=str(error))
    except Exception as error:  # noqa: BLE001 - whatever a quantity raises becomes ERROR
        verdict = Verdict(word=Word.ERROR, reason=f"{type(error).__name__}: {error}")
    told = tuple(seeds) if samples else ()
    return Measured(verdict=verdict, seeds=told, samples=tuple(map(tuple, samples)))


def samples_per_seed(claim: Claim, table: pd.DataFrame, seed: str | None) -> list[list[float]]:
    """Return the quantity per seed, each as the list of numbers that must be judged."""
    if claim.deterministic or seed is None:
        parts = [table]
    else:
        parts = [part for _, part in table.groupby(seed, sort=True)]
    if not parts or table.empty:
        raise MissingRows("the table is empty")
    samples = []
    for part in parts:
        value = claim.quantity(part)
        numbers = [float(v) for v in value] if isinstance(value, Iterable) else [float(value)]
        if any(math.isnan(number) for number in numbers):
            raise InvalidQuantity("the quantity is not a number on this table")
        samples.append(_judged(claim, numbers))
    if any(math.isnan(number) for sample in samples for number in sample):
        raise InvalidQuantity("the quantity is infinite twice: there is no step between the two")
    return samples


def _judged(claim: Claim, numbers: list[float]) -> list[float]:
    """Reduce a quantity's numbers to those that meet a bound: steps, or a log ratio."""
    match claim.form:
        case "ratio":
            numerator, denominator = numbers
            if numerator <= 0 or denominator <= 0:
                raise InvalidQuantity(f"ratio of {numerator:g} and {denominator:g}: need both > 0")
            return [math.log(numerator) - math.log(denominator)]
        case "ordering" | "monotone":
            if len(numbers) < 2:
                raise SpecError(f"claim {claim.id}: {claim.form} needs at least two numbers")
            return [after - before for before, after in pairwise(numbers)]
        case _:
            (number,) = numbers
            return [number]


def decide(claim: Claim, samples: list[list[float]]) -> Verdict:
    """Turn a claim's numbers per seed into a verdict, by the interval of each over the seeds."""
    low, high = _band(claim)
    series = list(zip(*samples, strict=True))
    single = claim.deterministic
    intervals = [_point(values) if single else _over_seeds(values) for values in series]
    words = [_word(interval, low, high) for interval in intervals]
    # The judged number nearest to failing stands for the claim.
    worst = min(range(len(words)), key=lambda i: _margin(intervals[i].mean, low, high))
    if Word.NOT_REPRODUCED in words:
        word = Word.NOT_REPRODUCED
        worst = words.index(word)
    elif Word.INCONCLUSIVE in words:
        word = Word.INCONCLUSIVE
        worst = words.index(word)
    else:
        word = Word.REPRODUCED
    reason = "the interval overlaps the threshold" if word is Word.INCONCLUSIVE else ""
    if math.isinf(intervals[worst].mean):
        reason = "the quantity is infinite, as where runs diverge"
    if not single and len(samples) < MIN_SEEDS:
        word, reason = Word.INCONCLUSIVE, f"{len(samples)} seed(s), need at least {MIN_SEEDS}"
    return _verdict(claim, word, reason, intervals[worst])


def _over_seeds(values: Sequence[float]) -> Interval:
    """Return the t interval; where every seed is infinite, they agree on infinity."""
    if not any(math.isinf(value) for value in values):
        return t_interval(values)
    if len(set(values)) > 1:
        num_infinite = sum(math.isinf(value) for value in values)
        raise InvalidQuantity(
            f"the quantity is infinite in {num_infinite} of {len(values)} seeds: it has no mean"
        )
    return Interval(mean=values[0], low=values[0], high=values[0], num_seeds=len(values))


def _margin(value: float, low: float, high: float) -> float:
    """Return how far inside the band a value lies; bounds at infinity are never near."""
    from_low = value - low if math.isfinite(low) else math.inf
    from_high = high - value if math.isfinite(high) else math.inf
    return min(from_low, from_high)


def _band(claim: Claim) -> tuple[float, float]:
    """Return the closed band that every judged number must lie in."""
    threshold = claim.threshold
    if isinstance(threshold, tuple):
        if claim.form == "within":
            return threshold
        low, high = threshold
        return (math.log(low) if low > 0 else -math.inf, math.log(high))
    match claim.form:
        case "at_most":
            return -math.inf, threshold
        case "at_least":
            return threshold, math.inf
        case "equal":
            return threshold - claim.tolerance, threshold + claim.tolerance
        case _:
            return -threshold, math.inf


def _point(values: Sequence[float]) -> Interval:
    (value,) = values
    return Interval(mean=value, low=value, high=value, num_seeds=1)


def _word(interval: Interval, low: float, high: float) -> Word:
    if low <= interval.low and interval.high <= high:
        return Word.REPRODUCED
    if interval.high < low or high < interval.low:
        return Word.NOT_REPRODUCED
    return Word.INCONCLUSIVE


def _exp(number: float) -> float:
    # A log ratio over two unlike seeds can have an interval wider than the floats.
    return math.exp(number) if number < 700.0 else math.inf


def _verdict(claim: Claim, word: Word, reason: str, interval: Interval) -> Verdict:
    numbers = [interval.mean, interval.low, interval.high]
    if claim.form == "ratio":
        numbers = [_exp(number) for number in numbers]
    measured, low, high = (number if math.isfinite(number) else None for number in numbers)
    return Verdict(
        word=word,
        reason=reason,
        measured=measured,
        low=low,
        high=high,
        num_seeds=0 if claim.deterministic else interval.num_seeds,
    )
