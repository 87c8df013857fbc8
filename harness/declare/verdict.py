"""The rule that turns a claim and a table into a verdict.

`evaluate` is pure: a claim and a table in, a verdict out. Nothing here touches a disk.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Literal

from harness.declare.claims import Claim
from harness.declare.criterion import STEPS, STRICT, Criterion
from harness.declare.profiles import Profile
from harness.declare.statistics import (
    MIN_SEEDS,
    Interval,
    InvalidQuantity,
    MissingRows,
    t_interval,
)
from harness.declare.table import Frame
from harness.errors import SpecError


class Word(StrEnum):
    """A verdict in one word."""

    HOLDS = "HOLDS"
    FAILS = "FAILS"
    SUPPORTED = "SUPPORTED"
    CONTRADICTED = "CONTRADICTED"
    UNDECIDED = "UNDECIDED"
    UNTESTED = "UNTESTED"
    ERROR = "ERROR"


Why = Literal["scale", "control", "missing", "not run", "error"]
"""Why a claim is UNTESTED: this profile cannot decide it; its positive control failed; a GPU, data
or a judge is missing; nobody ran it; its trials failed."""
OVERLAPS = "the interval overlaps the threshold"
NO_CONTROL = "missed, but without a positive control our setting may be at fault"
BEST_FIRST = (Word.SUPPORTED, Word.UNDECIDED, Word.CONTRADICTED)
WORDS_OF_CHECKS = {
    Word.SUPPORTED: Word.HOLDS,
    Word.CONTRADICTED: Word.FAILS,
    # A check has no doubt: what is not shown does not hold.
    Word.UNDECIDED: Word.FAILS,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One of several numbers that a claim is about, with its 95 % interval."""

    name: str
    measured: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What a claim came to on one table."""

    word: Word
    reason: str = ""
    """Of what is UNTESTED one of `Why` and a colon, then a sentence."""
    measured: float | None = None
    low: float | None = None
    high: float | None = None
    num_seeds: int = 0
    deciding: str = ""
    """Which of several numbers is `measured`: the one that the verdict hangs on."""
    parts: tuple[Part, ...] = ()
    """All numbers, where there are several."""
    control: Literal["", "held", "failed"] = ""
    """How the positive control went; empty where there is none, or nothing was measured."""
    samples: tuple[tuple[float, ...], ...] = ()
    """Per seed the judged numbers: one, several that meet one bound, or each step of an ordering;
    empty where more seeds would decide nothing."""


def untested(why: Why, reason: str) -> Verdict:
    """Return the verdict of what cannot be judged."""
    return Verdict(word=Word.UNTESTED, reason=f"{why}: {reason}")


def evaluate(claim: Claim, table: Frame, *, seed: str | None, profile: Profile) -> Verdict:
    """Decide a claim on a task's complete table.

    seed: the column that counts as a seed, None in a table without seeds.

    An evaluation that raises is ERROR, never CONTRADICTED: a crash is no evidence.
    """
    scope, criterion = claim.scope, claim.criterion
    if profile not in scope.profiles:
        return untested("scale", scope.elsewhere)
    doubt = ""
    try:
        samples = samples_per_seed(criterion, table, None if scope.deterministic else seed)
        verdict = decide(criterion, samples, single=scope.deterministic)
        doubt = criterion.doubt(table) if criterion.doubt else ""
        if doubt:
            verdict = replace(verdict, word=Word.UNDECIDED, reason=doubt)
        else:
            verdict = replace(verdict, samples=tuple(map(tuple, samples)))
        verdict = _by_control(claim, verdict, table, seed)
    except InvalidQuantity as error:
        verdict = Verdict(word=Word.UNDECIDED, reason=str(error))
    except MissingRows as error:
        return untested("not run", str(error))
    except Exception as error:  # noqa: BLE001 - whatever a quantity raises becomes ERROR
        return Verdict(word=Word.ERROR, reason=f"{type(error).__name__}: {error}")
    if scope.grade == "exact":
        verdict = replace(verdict, word=WORDS_OF_CHECKS[verdict.word])
    return verdict


def _by_control(claim: Claim, verdict: Verdict, table: Frame, seed: str | None) -> Verdict:
    """Hold a verdict against the claim's positive control: without one nothing is contradicted.

    Too few seeds decide neither the claim nor its control.
    """
    control, scope = claim.scope.control, claim.scope
    if 0 < verdict.num_seeds < MIN_SEEDS:
        return verdict
    if control is None:
        if verdict.word == Word.CONTRADICTED and not scope.can_contradict:
            return replace(verdict, word=Word.UNDECIDED, reason=NO_CONTROL, samples=())
        return verdict
    try:
        numbers = samples_per_seed(control.criterion, table, seed)
        held = decide(control.criterion, numbers, single=seed is None).word == Word.SUPPORTED
    except InvalidQuantity:
        held = False
    if held:
        return replace(verdict, control="held")
    failed = untested("control", f"this run does not show that {control.statement}")
    return replace(verdict, word=failed.word, reason=failed.reason, control="failed", samples=())


def samples_per_seed(criterion: Criterion, table: Frame, seed: str | None) -> list[list[float]]:
    """Return the quantity per seed, each as the list of numbers that must be judged.

    A table is complete, so a seed without a claim's rows is one that the grid gave to other claims.
    Raises MissingRows if no seed has them.

    seed: the column that counts as one; None for one value over the whole table.
    """
    parts = [table] if seed is None else [part for _, part in table.groupby(seed, sort=True)]
    samples, gap = [], MissingRows("the table is empty")
    for part in parts if len(table) else ():
        try:
            value = criterion.quantity(part)
        except MissingRows as error:
            gap = error
            continue
        numbers = [float(v) for v in value] if isinstance(value, Iterable) else [float(value)]
        if any(math.isnan(number) for number in numbers):
            raise InvalidQuantity("the quantity is not a number on this table")
        samples.append(_judged(criterion, numbers))
    if not samples:
        raise gap
    if any(math.isnan(number) for sample in samples for number in sample):
        raise InvalidQuantity("the quantity is infinite twice: there is no step between the two")
    return samples


def _judged(criterion: Criterion, numbers: list[float]) -> list[float]:
    """Reduce a quantity's numbers to those that meet a bound: steps, or a log ratio."""
    match criterion.form:
        case "ratio":
            pairs = zip(numbers[::2], numbers[1::2], strict=True)
            return [_log_ratio(numerator, denominator) for numerator, denominator in pairs]
        case form if form in STEPS:
            if len(numbers) < 2:
                raise SpecError(f"{form} needs at least two numbers")
            return [after - before for before, after in pairwise(numbers)]
        case form if form == "equal" or not numbers:
            (number,) = numbers
            return [number]
        case _:
            return numbers


def _log_ratio(numerator: float, denominator: float) -> float:
    if numerator <= 0 or denominator <= 0:
        raise InvalidQuantity(f"ratio of {numerator:g} and {denominator:g}: need both > 0")
    return math.log(numerator) - math.log(denominator)


def decide(
    criterion: Criterion, samples: Sequence[Sequence[float]], *, single: bool = False
) -> Verdict:
    """Turn numbers per seed into a verdict, by the interval of each over the seeds.

    single: there are no seeds, but one value without an interval.
    """
    low, high = band(criterion)
    strict = criterion.form in STRICT
    series = list(zip(*samples, strict=True))
    intervals = [_point(values[0]) if single else _over_seeds(values) for values in series]
    words = [_word(each, low, high, strict=strict, single=single) for each in intervals]
    # Best first: the last one that is needed decides, and stands for the claim.
    ranked = sorted(
        range(len(words)),
        key=lambda i: (BEST_FIRST.index(words[i]), -_margin(intervals[i].mean, low, high)),
    )
    if (needed := criterion.at_least_of or len(words)) > len(words):
        raise SpecError(f"needs {needed} of {len(words)} numbers")
    word = words[worst := ranked[needed - 1]]
    reason = OVERLAPS if word is Word.UNDECIDED else ""
    if math.isinf(intervals[worst].mean):
        reason = "the quantity is infinite, as where runs diverge"
    if not single and len(samples) < MIN_SEEDS:
        word, reason = Word.UNDECIDED, f"a verdict needs at least {MIN_SEEDS} seeds"
    parts = [_part(criterion, each, place, len(words)) for place, each in enumerate(intervals)]
    return Verdict(
        word=word,
        reason=reason,
        measured=parts[worst].measured,
        low=parts[worst].low,
        high=parts[worst].high,
        num_seeds=0 if single else len(samples),
        deciding=parts[worst].name,
        parts=tuple(parts) if len(parts) > 1 else (),
    )


def _over_seeds(values: Sequence[float]) -> Interval:
    """Return the t interval; where every seed is infinite, they agree on infinity."""
    if not any(math.isinf(value) for value in values):
        return t_interval(values)
    if len(set(values)) > 1:
        num_infinite = sum(math.isinf(value) for value in values)
        raise InvalidQuantity(
            f"the quantity is infinite in {num_infinite} of {len(values)} seeds: it has no mean"
        )
    return _point(values[0])


def _margin(value: float, low: float, high: float) -> float:
    """Return how far inside the band a value lies; bounds at infinity are never near."""
    from_low = value - low if math.isfinite(low) else math.inf
    from_high = high - value if math.isfinite(high) else math.inf
    return min(from_low, from_high)


def with_threshold_times(criterion: Criterion, factor: float) -> Criterion:
    """Return a criterion that leaves so many times the room: a range keeps its middle."""
    threshold = criterion.threshold
    if not isinstance(threshold, tuple):
        return replace(criterion, threshold=factor * threshold)
    low, high = threshold
    if criterion.form == "ratio":
        # One bound alone is a number; two are as far from 1 as one another, in logarithms.
        is_one = low <= 0 or math.isinf(high)
        bounds = (low * factor, high * factor) if is_one else (low**factor, high**factor)
        return replace(criterion, threshold=bounds)
    middle, half = (low + high) / 2, factor * (high - low) / 2
    is_open = not math.isfinite(half)
    return criterion if is_open else replace(criterion, threshold=(middle - half, middle + half))


def band(criterion: Criterion) -> tuple[float, float]:
    """Return the band that every judged number must lie in; closed unless the form is strict."""
    threshold = criterion.threshold
    if isinstance(threshold, tuple):
        if criterion.form == "within":
            return threshold
        low, high = threshold
        return (math.log(low) if low > 0 else -math.inf, math.log(high))
    match criterion.form:
        case "at_most" | "less_than":
            return -math.inf, threshold
        case "at_least" | "more_than":
            return threshold, math.inf
        case "equal":
            return threshold - criterion.tolerance, threshold + criterion.tolerance
        case _:
            return -threshold, math.inf


def _point(value: float) -> Interval:
    return Interval(mean=value, low=value, high=value)


def _word(interval: Interval, low: float, high: float, *, strict: bool, single: bool) -> Word:
    """Place an interval in a band; in a strict one a threshold itself lies outside.

    Where all seeds lie on that threshold, as on a grid too coarse to tell, nothing is decided.
    """
    above = low < interval.low if strict and math.isfinite(low) else low <= interval.low
    below = interval.high < high if strict and math.isfinite(high) else interval.high <= high
    outside = interval.high < low or high < interval.low
    if strict and single:
        outside |= interval.high == low != -math.inf or interval.low == high != math.inf
    if above and below:
        return Word.SUPPORTED
    return Word.CONTRADICTED if outside else Word.UNDECIDED


def _part(criterion: Criterion, interval: Interval, place: int, count: int) -> Part:
    """Return one of several intervals as a reader has it; JSON holds no infinity."""
    numbers = [interval.mean, interval.low, interval.high]
    if criterion.form == "ratio":
        # A log ratio over two unlike seeds can have an interval wider than the floats.
        numbers = [math.exp(number) if number < 700.0 else math.inf for number in numbers]
    measured, low, high = (number if math.isfinite(number) else None for number in numbers)
    noun = "step" if criterion.form in STEPS else "number"
    name = f"{noun} {place + 1} of {count}" if count > 1 else ""
    if len(criterion.names) == count:
        name = criterion.names[place]
    return Part(name=name, measured=measured, low=low, high=high)
