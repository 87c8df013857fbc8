"""Seals: what a claim asked and measured when its trials ran, so that it cannot move unseen.

What a claim measures on the sealed records is its identity; its code is not. Before a trial
starts, its record takes the band of every claim that reads it, the keys of all planned trials
and a digest of the code; when a result is first judged, its samples are stored with it. Later
the claim is compared with both.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from harness.declare.claims import Claim
from harness.declare.cohorts import FIRST
from harness.declare.statistics import t_interval
from harness.declare.task import Task
from harness.declare.verdict import WORDS_OF_CHECKS, Measured, Word, decide, samples_per_seed
from harness.errors import SpecError
from harness.canonical import digest
from harness.provenance.code import code_digest
from harness.strict import Strict

State = Literal["sealed", "restated", "changed", "late", "renewed", "withdrawn", "none"]
STATES: dict[State, str] = {
    "sealed": "nothing differs from what was sealed before the run",
    "restated": "its code was changed since, but what it asks, and what it measures on the sealed"
    " records, are the same",
    "changed": "what it asks, its trials or its numbers differ from what was sealed",
    "late": "it was declared after some of its trials had run",
    "renewed": "its seal was written by a re-run of trials whose results were known",
    "withdrawn": "it was sealed once and is no longer declared",
    "none": "there is no run",
}
SAID_THEN = {
    "statement": "it was then stated as",
    "where": "its source was then given as",
    "unit": "its unit was then",
}
"""What a claim says in words, and how a former wording is told."""
TOLERANCE = 1e-12
"""For measured numbers, relative or absolute: another processor may add in another order."""
STATISTICS = (samples_per_seed, decide)
"""What turns a quantity into a verdict; followed with the modules that it lies in."""


class Band(Strict):
    """What a claim asks: the part of a seal that a reader can compare."""

    form: str
    threshold: Any
    tolerance: float
    grade: str
    profiles: list[str]
    cohort: str = FIRST
    deterministic: bool | None = None
    """Whether it has no seeds; None in seals of before this was part of them."""
    seed_column: str | None = None
    """What counts as a seed; empty for a table without seeds, None as above."""
    at_least_of: int | None = None
    """How many of several numbers must meet the bound; 0 for all of them, None as above."""


class Seal(Strict):
    """What a record takes of a claim before its trial starts."""

    band: Band
    keys: dict[str, str]
    """Digest of the keys of all planned trials by profile: profiles may share a trial."""
    code: str
    """Digest of quantity, table and statistics."""
    judged_by: str | None = None
    """The cohort that decides the claim; None in seals of before this was part of them."""

    def at(self, profile: str) -> Seal:
        """Return what the seal says of one profile."""
        return self.model_copy(update={"keys": {profile: self.keys.get(profile, "")}})


class Outcome(Strict):
    """What a claim measured."""

    verdict: str
    reason: str = ""
    measured: float | None = None
    low: float | None = None
    high: float | None = None
    num_seeds: int = 0
    seeds: list[int] = Field(default_factory=list)
    samples: list[list[float | str]] = Field(default_factory=list)
    """Per seed the judged numbers; infinities as text, which JSON can hold."""


class Sealed(Strict):
    """One side of the comparison: what was sealed, or what stands now."""

    statement: str = ""
    where: str = ""
    unit: str = ""
    seal: Seal
    outcome: Outcome | None = None
    """None where the claim was not decided by then."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """How a claim stands to its seal."""

    state: State
    differences: tuple[str, ...] = ()
    """What differs, both values each, and what the claim said in other words."""


def seal_name(task_id: str, claim_id: str, cohort: str = FIRST) -> str:
    """Return the name of a claim's seal in a record.

    >>> seal_name("supar/fig06", "sp_moves", "cohort-1")
    'supar/fig06:sp_moves@cohort-1'
    """
    return f"{task_id}:{claim_id}" + ("" if cohort == FIRST else f"@{cohort}")


def seal(task: Task, claim: Claim, keys: Mapping[str, str], *, cohort: str = FIRST) -> Seal:
    """Return the seal of a claim on a task's planned trials.

    keys: by profile, the digest of their keys.
    Raises SpecError if the quantity is no function whose source can be read.
    """
    return Seal(
        band=Band(
            form=claim.criterion.form,
            threshold=threshold_json(claim.criterion.threshold),
            tolerance=claim.criterion.tolerance,
            grade=claim.scope.grade,
            profiles=list(claim.scope.profiles),
            cohort=cohort,
            deterministic=claim.scope.deterministic,
            seed_column=task.table.seed or "",
            at_least_of=claim.criterion.at_least_of or 0,
        ),
        keys=dict(keys),
        code=claim_code(task, claim),
        judged_by=claim.scope.cohort,
    )


def keys_digest(keys: Iterable[str]) -> str:
    """Return a digest of trial keys, whatever their order."""
    return digest(sorted(set(keys)))[:32]


def claim_code(task: Task, claim: Claim) -> str:
    """Return the digest of quantity, table and statistics."""
    quantity: Any = claim.criterion.quantity
    while isinstance(quantity, functools.partial):
        quantity = quantity.func
    if not hasattr(quantity, "__code__") and not hasattr(quantity, "__wrapped__"):
        raise SpecError(f"{claim.id}: a quantity is a plain function or a partial of one")
    asked = [claim.criterion.quantity, *filter(None, [claim.criterion.doubt])]
    roots = [*asked, task.table.make, *STATISTICS]
    return code_digest(roots, follow={samples_per_seed.__module__, t_interval.__module__})


def threshold_json(threshold: float | tuple[float, float]) -> Any:
    """Return a threshold with infinite bounds as text, which canonical JSON can hold.

    >>> threshold_json((0.0, float("inf")))
    [0.0, 'inf']
    """
    if isinstance(threshold, tuple):
        return [threshold_json(bound) for bound in threshold]
    return threshold if abs(threshold) != float("inf") else str(threshold)


def standing(claim: Claim, made: Seal, measured: Measured | None) -> Sealed:
    """Return what stands now: words, seal, and what was measured where it was decided."""
    return Sealed(
        statement=claim.statement,
        where=claim.where,
        unit=claim.criterion.unit,
        seal=made,
        outcome=None if measured is None else outcome_of(measured),
    )


def outcome_of(measured: Measured) -> Outcome:
    """Return what a claim measured, as JSON can hold it."""
    verdict = measured.verdict
    return Outcome(
        verdict=str(verdict.word),
        reason=verdict.reason,
        measured=verdict.measured,
        low=verdict.low,
        high=verdict.high,
        num_seeds=verdict.num_seeds,
        seeds=list(measured.seeds),
        samples=[
            [value if math.isfinite(value) else str(value) for value in sample]
            for sample in measured.samples
        ],
    )


def compare(
    now: Sealed,
    first: Sequence[Sealed | None],
    last: Sequence[Seal | None],
    *,
    was: State = "sealed",
    note: str = "",
) -> Comparison:
    """Compare a claim with what was sealed.

    first: the sides that the records of its trials took when these first ran, each once; None
    where a record had no seal of it. last: the seals of the records as they are. All of them
    speak of one profile.
    was: how it stood when the side was taken, which no later run mends; note: what differed.
    """
    sides = [side for side in first if side is not None]
    if len(sides) < len(first) or not sides:
        return Comparison(state="late", differences=_words(sides, now))
    differing = list(dict.fromkeys(line for side in sides for line in differences(side, now)))
    same_code = all(side.seal.code == now.seal.code for side in sides)
    unknown = [side for side in sides if side.outcome is None]
    if now.outcome is not None and any(side.seal.code != now.seal.code for side in unknown):
        differing.append("code: another one then, and nothing was measured by it")
    notes = (*([note] if note else []), *_words(sides, now))
    if not differing:
        if was != "sealed":
            return Comparison(state=was, differences=notes)
        state: State = "sealed" if same_code else "restated"
        return Comparison(state=state, differences=notes)
    ran_again = bool(last) and all(made == now.seal for made in last)
    is_renewed = ran_again and any(side.seal != now.seal for side in sides)
    return Comparison(
        state="renewed" if is_renewed else "changed",
        differences=(*differing, *notes),
    )


def differences(sealed: Sealed, now: Sealed) -> list[str]:
    """Return what differs between two sides, code and words apart, with both values."""
    found = [
        f"{name}: {then!r} then, {value!r} now"
        for name, value in now.seal.band
        if (then := getattr(sealed.seal.band, name)) is not None and then != value
    ]
    if sealed.seal.keys != now.seal.keys:
        found.append("trials: other trials were planned then")
    if sealed.outcome is not None:
        then, today = sealed.outcome, now.outcome or Outcome(verdict="NOT_RUN")
        if now.seal.band.grade == "exact":
            # Checks had the words of claims before they were told apart.
            verdict = WORDS_OF_CHECKS.get(Word(then.verdict), then.verdict)
            then = then.model_copy(update={"verdict": str(verdict)})
        found += _outcome_differences(then, today)
    return found


def _outcome_differences(then: Outcome, now: Outcome) -> list[str]:
    found = []
    if then.verdict != now.verdict:
        found.append(f"verdict: {then.verdict} then, {now.verdict} now")
    for name in ("measured", "low", "high", "num_seeds"):
        old, new = getattr(then, name), getattr(now, name)
        if not same_values(old, new):
            found.append("{}: {} then, {} now".format(name, *_told_apart(old, new)))
    if then.samples and not same_values([then.seeds, then.samples], [now.seeds, now.samples]):
        found.append("samples: other numbers per seed then")
    return found


def _told_apart(old: object, new: object) -> tuple[str, str]:
    """Return both with as few digits as tell them apart.

    >>> _told_apart(0.4158176292425158, 0.415820000000001), _told_apart(None, 3.0)
    (('0.415818', '0.41582'), ('None', '3'))
    """
    texts = (str(old), str(new))
    for digits in range(4, 17):
        texts = (
            f"{old:.{digits}g}" if isinstance(old, float) else str(old),
            f"{new:.{digits}g}" if isinstance(new, float) else str(new),
        )
        if texts[0] != texts[1]:
            break
    return texts


def _words(sides: Sequence[Sealed], now: Sealed) -> tuple[str, ...]:
    """Return what the claim said in other words: they are shown, and change no state."""
    return tuple(
        f'{told} "{old}"'
        for side in sides[:1]
        for name, told in SAID_THEN.items()
        if side.statement and (old := getattr(side, name)) != getattr(now, name)
    )


def same_values(left: Any, right: Any) -> bool:
    """Compare JSON values; floats within the tolerance."""
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(same_values, left, right))
    numbers = (int, float)
    if isinstance(left, numbers) and isinstance(right, numbers):
        return math.isclose(left, right, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(left == right)
