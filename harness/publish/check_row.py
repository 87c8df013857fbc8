"""One verdict as `repro check --json` prints it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from harness.declare.cohorts import FIRST
from harness.declare.verdict import Word

SCHEMA_VERSION = 7

Kind = Literal["check", "claim", "half", "own"]
"""An exact statement on our code, a claim of the paper, half of one, or a question of our own."""
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
    own_question: bool = False
    """Whether we ask it, and the paper does not say it."""
    half_of: str = ""
    """The claim of its task that it is half of, an either-or: that one decides."""
    by_construction: str = ""
    """What all but sets its number whatever is trained, in a few words."""
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
    def kind(self) -> Kind:
        """What it is counted among."""
        if self.grade == "exact":
            return "check"
        if self.half_of:
            return "half"
        return "own" if self.own_question else "claim"

    @property
    def fails(self) -> bool:
        """Whether this row must fail `repro check`: an error, or a check that fails."""
        return self.verdict == Word.ERROR or (self.verdict == Word.FAILS and self.decides)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
