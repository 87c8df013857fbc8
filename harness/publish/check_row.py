"""One verdict as `repro check --json` prints it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from harness.declare.verdict import Word

SCHEMA_VERSION = 8

Kind = Literal["check", "claim", "own"]
"""An exact statement on our code, a claim of the paper, or a question of our own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckRow:
    """One claim's verdict in one profile; the fields of `repro check --json`."""

    task: str
    claim: str
    grade: str
    ours: bool
    """Whether we ask it, and the paper does not say it."""
    profile: str
    form: str
    verdict: str
    reason: str
    measured: float | None
    low: float | None
    high: float | None
    unit: str
    num_seeds: int
    threshold: Any
    threshold_from: str
    paper_value: float | None
    paper_is_derived: bool
    """Whether `paper_value` is computed from a number that the paper prints."""
    registered: bool
    """Whether the claim and the planned trials stood in the records before these ran."""
    control: str
    """`held`, `failed`, or nothing where there is no positive control."""
    seeds_to_decide: int | None
    """Of what is UNDECIDED: the seeds that would decide it with 80 % power."""
    deciding: str
    """Which of the claim's several numbers is `measured`."""
    statement: str
    schema_version: int = SCHEMA_VERSION

    @property
    def kind(self) -> Kind:
        """What it is counted among."""
        if self.grade == "exact":
            return "check"
        return "own" if self.ours else "claim"

    @property
    def why(self) -> str:
        """Of what is UNTESTED the word that says why: `scale`, `control`, `missing`, ..."""
        return self.reason.partition(":")[0] if self.verdict == Word.UNTESTED else ""

    @property
    def fails(self) -> bool:
        """Whether this row must fail `repro check`: an error, or a check that fails."""
        return self.verdict in (Word.ERROR, Word.FAILS)
