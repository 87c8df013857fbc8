"""One verdict as `repro check --json` prints it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from harness.declare.verdict import Part, Word

SCHEMA_VERSION = 9

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
    parts: tuple[Part, ...] = ()
    """All numbers, where the claim is about several."""
    at_least_of: int | None = None
    """How many of them must do; None for all."""
    if_halved: str = ""
    """The verdict if a threshold of ours were half as large; empty where none of ours decides."""
    if_doubled: str = ""
    schema_version: int = SCHEMA_VERSION

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> CheckRow:
        """Return what a file of verdicts holds."""
        return cls(**{**stored, "parts": tuple(Part(**part) for part in stored["parts"])})

    @property
    def label(self) -> str:
        """What a plot calls it: its item and the words of its id."""
        return f"{self.task.partition('/')[2]} {self.claim}".replace("_", " ")

    @property
    def kind(self) -> Kind:
        """What it is counted among."""
        if self.grade == "exact":
            return "check"
        return "own" if self.ours else "claim"

    @property
    def fails(self) -> bool:
        """Whether this row must fail `repro check`: an error, or a check that fails."""
        return self.verdict in (Word.ERROR, Word.FAILS)
