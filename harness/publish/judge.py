"""Verdicts of a task's claims on its stored result."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness.declare.claims import Claim
from harness.declare.criterion import Criterion
from harness.declare.overrides import Overrides
from harness.declare.profiles import Profile
from harness.declare.reference import published
from harness.declare.statistics import CONFIDENCE, MIN_SEEDS
from harness.declare.table import Frame
from harness.declare.task import Task
from harness.declare.verdict import (
    Part,
    Verdict,
    Why,
    Word,
    band,
    decide,
    evaluate,
    untested,
    with_threshold_times,
)
from harness.publish.check_row import CheckRow
from harness.run.awaited import awaited_by, awaited_text, run_command
from harness.store.registered import task_registrations
from harness.store.result import TaskResult

NOTHING = Overrides()
POWER = 0.8
MOST = 10_000
"""More seeds than this nobody runs."""
DIGITS = 10
"""Of a number: another processor's sums may differ in the last ones."""


def judge(
    task: Task,
    result: TaskResult | None,
    profile: Profile,
    reference: Frame | None,
    *,
    overrides: Overrides = NOTHING,
) -> list[CheckRow]:
    """Evaluate every claim of a task on a result (None: it was not run).

    overrides: of the variant that is judged.
    """
    missing = _not_run(task, result, profile, overrides)
    registered = {} if result is None else result.meta.registered
    # No grid is walked where no record says what claims asked.
    today = task_registrations(task, profile, overrides) if registered else {}
    rows = []
    for claim in task.claims:
        if missing is not None:
            scope = claim.scope
            is_asked = profile in scope.profiles
            found = missing if is_asked else untested("scale", scope.elsewhere)
        else:
            assert result is not None  # or it would be missing
            found = evaluate(claim, result.table, seed=task.table.seed, profile=profile)
        then = registered.get(claim.id)
        is_registered = then is not None and then == today.get(claim.id)
        rows.append(_row(task, claim, profile, found, reference, registered=is_registered))
    return rows


def failed_rows(task: Task, profile: Profile, reason: str) -> list[CheckRow]:
    """Return ERROR for every claim of a task whose stored result cannot be used."""
    verdict = Verdict(word=Word.ERROR, reason=reason)
    return [_row(task, claim, profile, verdict, None, registered=False) for claim in task.claims]


def _not_run(
    task: Task, result: TaskResult | None, profile: Profile, overrides: Overrides
) -> Verdict | None:
    """Return the verdict of all claims of a table that is not there or not complete."""
    if result is None:
        if awaited := awaited_by(task):
            return untested("missing", awaited_text(task.id, awaited))
        return untested("not run", run_command(task, profile, overrides))
    counts = result.meta.trials
    if not counts.without_result:
        return None
    why: Why = "error" if counts.failed else "missing" if counts.skipped else "not run"
    gaps = [f", first {gap.trial}: {gap.reason}" for gap in result.meta.not_run[:1]]
    total = counts.without_result + counts.with_result
    told = f"{counts.without_result} of {total} trials have no result"
    return untested(why, f"{told}{''.join(gaps)}")


def _paper_value(claim: Claim, reference: Frame | None) -> tuple[float | None, str]:
    """Return the paper's number, if it prints one, and what went wrong when it was looked up."""
    if claim.criterion.paper_value is None or reference is None:
        return None, ""
    rows = published(reference)
    try:
        value = None if rows.empty else claim.criterion.paper_value(rows)
    except Exception as error:  # noqa: BLE001 - whatever it raises becomes ERROR
        return None, f"its paper value: {type(error).__name__}: {error}"
    # JSON has no NaN, and a row without a number is one that was not published.
    return None if value is None or not math.isfinite(value) else float(value), ""


def _row(
    task: Task, claim: Claim, profile: Profile, verdict: Verdict,
    reference: Frame | None, *, registered: bool,
) -> CheckRow:  # fmt: skip
    scope, criterion = claim.scope, claim.criterion
    value, fault = _paper_value(claim, reference)
    if fault:
        verdict = Verdict(word=Word.ERROR, reason=fault)
    samples = verdict.samples if verdict.word == Word.UNDECIDED else ()
    return CheckRow(
        task=task.id,
        claim=claim.id,
        grade=scope.grade,
        ours=scope.own_question,
        profile=profile,
        form=criterion.form,
        verdict=verdict.word,
        reason=verdict.reason,
        measured=_rounded(verdict.measured),
        low=_rounded(verdict.low),
        high=_rounded(verdict.high),
        unit=criterion.unit,
        num_seeds=verdict.num_seeds,
        threshold=threshold_json(criterion.threshold),
        threshold_from=scope.threshold_from,
        paper_value=_rounded(value),
        paper_is_derived=criterion.is_derived and value is not None,
        registered=registered,
        control=verdict.control,
        seeds_to_decide=seeds_to_decide(criterion, samples, against=scope.can_contradict),
        deciding=what_number(verdict, criterion),
        statement=claim.statement,
        parts=tuple(map(_rounded_part, verdict.parts)),
        at_least_of=criterion.at_least_of,
        if_halved=_if_times(claim, verdict, 0.5),
        if_doubled=_if_times(claim, verdict, 2.0),
    )


def _rounded_part(part: Part) -> Part:
    measured, low, high = map(_rounded, (part.measured, part.low, part.high))
    return replace(part, measured=measured, low=low, high=high)


def _if_times(claim: Claim, verdict: Verdict, factor: float) -> str:
    """Return the verdict if a threshold of ours were another; nothing where none decides.

    A threshold of 0 has no other one.
    """
    scope = claim.scope
    other = with_threshold_times(claim.criterion, factor)
    is_ours = scope.threshold_from in ("ours", "calibration") and other != claim.criterion
    if not is_ours or not verdict.samples:
        return ""
    word = decide(other, verdict.samples, single=scope.deterministic).word
    return Word.UNDECIDED if word == Word.CONTRADICTED and not scope.can_contradict else word


def _rounded(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.{DIGITS}g}")


def seeds_to_decide(
    criterion: Criterion, samples: Sequence[Sequence[float]], *, against: bool = True
) -> int | None:
    """Return the fewest seeds with which a claim is decided with 80 % power; None if none are.

    samples: per seed the judged numbers, whose means and deviations are taken as true.
    against: whether more seeds could also contradict the claim.

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
    enough = sorted(inside)[needed - 1 :]
    if against:
        enough = enough or sorted(outside)[count - needed :]
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


def what_number(verdict: Verdict, criterion: Criterion) -> str:
    """Say what the measured number is, and which of several it is.

    >>> from harness.declare import more_than
    >>> asked = more_than(len, 0, "nats").naming("x", "y").measuring("left less right")
    >>> what_number(Verdict(word=Word.SUPPORTED, measured=4.6, deciding="y"), asked)
    'left less right; y decides'
    """
    if verdict.measured is None:
        return ""
    # One number decides over no other: its name says no more than what it is.
    is_alone = not verdict.deciding or (len(criterion.names) == 1 and bool(criterion.measures))
    deciding = "" if is_alone else f"{verdict.deciding} decides"
    return "; ".join(filter(None, [criterion.measures, deciding]))


def threshold_json(threshold: float | tuple[float, float]) -> Any:
    """Return a threshold with infinite bounds as text, which JSON can hold.

    >>> threshold_json((0.0, float("inf")))
    [0.0, 'inf']
    """
    if isinstance(threshold, tuple):
        return [threshold_json(bound) for bound in threshold]
    return threshold if abs(threshold) != float("inf") else str(threshold)
