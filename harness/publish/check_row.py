"""One verdict as `repro check --json` prints it, and how verdicts are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harness.declare.claims import Grade
from harness.declare.cohorts import FIRST
from harness.declare.verdict import Word

SCHEMA_VERSION = 3


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
    """Count checks apart from claims: `12 checks hold; claims: 3 REPRODUCED, 1 NOT_RUN`."""
    checks, claims = verdict_counts(rows, "exact"), verdict_counts(rows, "empirical")
    parts = [_checks_text(checks)] if checks else []
    if claims:
        counted = ", ".join(f"{count} {word}" for word, count in claims.items())
        parts.append(f"claims: {counted}" if parts else counted)
    return "; ".join(parts) or "no claims"


def _checks_text(counts: Mapping[Word, int]) -> str:
    told = []
    for word, count in counts.items():
        one = count == 1
        verb = {Word.HOLDS: " holds" if one else " hold", Word.FAILS: " FAILS" if one else " FAIL"}
        told.append(f"{count} check{'' if one else 's'}{verb.get(word, f' {word}')}")
    return ", ".join(told)
