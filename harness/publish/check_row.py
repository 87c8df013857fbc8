"""One verdict as `repro check --json` prints it, and how verdicts are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harness.declare.claims import Grade
from harness.declare.cohorts import FIRST
from harness.declare.verdict import Word
from harness.store.meta import TOO_FEW

SCHEMA_VERSION = 5

DECIDED = (Word.REPRODUCED, Word.NOT_REPRODUCED)
SEALS = ("restated", "changed", "late", "renewed")
"""Seals that are not as they were when the trials ran, the mildest first."""
NOT_COMPUTED = "what chance does is not computed"


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckRow:
    """One claim's verdict in one profile on one cohort; the fields of `repro check --json`."""

    task: str
    claim: str
    form: str
    grade: str
    profile: str
    verdict: str
    reason: str
    measured: float | None
    low: float | None
    high: float | None
    num_seeds: int
    threshold: Any
    threshold_from: str
    paper_value: float | None
    seal: str
    """How the claim stands to what was sealed: a word of `harness.provenance.seals.STATES`."""
    cohort: str = FIRST
    decides: bool = True
    """Whether the claim is judged by this cohort; verdicts of others stand beside it."""
    differences: tuple[str, ...] = ()
    """What differs from the seal, both values each, and former words."""
    chance_rate: float | None = None
    """Share of relabellings of what the claim compares that would read REPRODUCED."""
    weak: bool | None = None
    """Whether chance alone reproduces it more often than one in ten; None without a rate."""
    chance_reason: str = ""
    """Why there is no rate."""
    seeds_to_decide: int | None = None
    """Of an INCONCLUSIVE claim: the seeds that would decide it with 80 % power."""
    deciding: str = ""
    """Which of the claim's several numbers is `measured`."""
    paper_standing: str = ""
    """How `paper_value` may be called where the paper does not print it: derived."""
    statement: str = ""
    """The claim in words, with what stood in for what it names; filled in where rows are told."""
    schema_version: int = SCHEMA_VERSION

    @property
    def fails(self) -> bool:
        """Whether this row must fail `repro check`: an error, or a check that fails."""
        return self.verdict == Word.ERROR or (self.verdict == Word.FAILS and self.decides)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def verdict_counts(rows: Iterable[CheckRow], grade: Grade) -> dict[Word, int]:
    """Count verdicts among checks, or among claims, in the order of `Word`."""
    counts = Counter(row.verdict for row in rows if row.decides and row.grade == grade)
    return {word: counts[word] for word in Word if counts[word]}


def counts_text(rows: Sequence[CheckRow]) -> str:
    """Count checks apart from claims: `2 checks hold; claims: 3 REPRODUCED, 1 NOT_RUN`."""
    checks, claims = verdict_counts(rows, "exact"), verdict_counts(rows, "empirical")
    parts = [_checks_text(checks)] if checks else []
    if claims:
        apart = {Word.REPRODUCED: chance_text(rows)}
        counted = ", ".join(f"{n} {word}{apart.get(word, '')}" for word, n in claims.items())
        parts.append(f"claims: {counted}" if parts else counted)
    return "; ".join(parts) or "no claims"


def chance_text(rows: Iterable[CheckRow]) -> str:
    """Say in brackets of how many reproduced claims chance was excluded, and of how many not.

    >>> row = dict(task="a/b", claim="c", form="", grade="empirical", profile="cpu", reason="",
    ...     measured=1.0, low=1.0, high=1.0, num_seeds=3, threshold=0.0, threshold_from="ours",
    ...     paper_value=None, seal="late", verdict="REPRODUCED")
    >>> chance_text([CheckRow(**row, chance_rate=0.2, weak=True), CheckRow(**row)])
    ' (1 with a chance rate, 1 of them weak; 1 with no null)'
    """
    reproduced = [row for row in rows if row.verdict == Word.REPRODUCED and row.decides]
    rated = sum(row.chance_rate is not None for row in reproduced)
    weak = sum(row.weak is True for row in reproduced)
    too_few = sum(row.chance_reason == TOO_FEW for row in reproduced)
    unknown = sum(row.chance_reason.startswith(NOT_COMPUTED) for row in reproduced)
    other = len(reproduced) - rated - too_few - unknown
    told = [f"{rated} with a chance rate" + (f", {weak} of them weak" if weak else "")]
    told = told if rated else []
    told += [f"{too_few} with {TOO_FEW}"] if too_few else []
    told += [f"{other} with no null"] if other else []
    told += [f"{unknown} whose chance rate is not computed"] if unknown else []
    return f" ({'; '.join(told)})" if told else ""


def seals_text(rows: Iterable[CheckRow]) -> str:
    """Say on what seals the decided claims rest; nothing where none is decided."""
    decided = [r for r in rows if r.decides and r.verdict in DECIDED and r.grade == "empirical"]
    counts = Counter(row.seal for row in decided)
    if not decided:
        return ""
    told = [f"{counts[state]} {state}" for state in SEALS if counts[state]]
    claims = "1 decided claim" if len(decided) == 1 else f"{len(decided)} decided claims"
    return f"seals of the {claims}: {counts['sealed']} sealed{''.join(f', {t}' for t in told)}"


def _checks_text(counts: Mapping[Word, int]) -> str:
    told = []
    for word, count in counts.items():
        one = count == 1
        verb = {Word.HOLDS: " holds" if one else " hold", Word.FAILS: " FAILS" if one else " FAIL"}
        told.append(f"{count} check{'' if one else 's'}{verb.get(word, f' {word}')}")
    return ", ".join(told)
