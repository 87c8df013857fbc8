"""The JSON beside a CSV: where a result came from, and what its claims came to."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from harness.declare.cohorts import FIRST
from harness.provenance.seals import Sealed
from harness.strict import Strict

SCHEMA_VERSION = 2
TOO_FEW = "too few seeds to exclude chance"
"""Why a claim has no chance rate, where more seeds would give it one."""


class ColumnMeta(Strict):
    name: str
    type: str
    role: str
    doc: str
    nullable: bool


class TrialCounts(Strict):
    """How the trials behind a table ended; `missing` were never started."""

    done: int = 0
    diverged: int = 0
    oom: int = 0
    failed: int = 0
    skipped: int = 0
    missing: int = 0

    @property
    def without_result(self) -> int:
        return self.failed + self.skipped + self.missing

    @property
    def with_result(self) -> int:
        return self.done + self.diverged + self.oom


class NotRun(Strict):
    trial: str
    reason: str
    cohort: str = FIRST


class ProvenanceMeta(Strict):
    """What all records behind a table have in common, and where they differ, as lists."""

    commits: list[str]
    dirty: bool
    machines: list[dict[str, Any]]
    versions: dict[str, list[str]]
    data: dict[str, dict[str, str]]
    seeds: list[Any]
    code: list[str]
    overrides: dict[str, Any]
    choices: dict[str, list[str]] = Field(default_factory=dict)
    """What code chose by itself: by kernel, what it was done by."""
    wall_s: float
    started_at: str
    finished_at: str


class Chance(Strict):
    """How often a claim would read REPRODUCED if the labels that it compares meant nothing."""

    code: str
    """Digest of what it follows from, beside the runs."""
    rate: float | None = None
    """Share of relabellings; None where there is no such share."""
    num_relabellings: int = 0
    """Those that change what is measured."""
    reason: str = ""
    """Why there is no share."""


class ResultMeta(Strict):
    """The JSON beside a CSV."""

    schema_version: int = SCHEMA_VERSION
    task: str
    profile: str
    stands_in: dict[str, str] = Field(default_factory=dict)
    """By a name of the paper what was run in its place: `{"SVHN": "MNIST"}`."""
    csv_sha256: str
    num_rows: int
    columns: list[ColumnMeta]
    trials: TrialCounts
    """How the trials of the first cohort ended."""
    cohorts: dict[str, TrialCounts] = Field(default_factory=dict)
    """The same for every further cohort, by name."""
    not_run: list[NotRun]
    num_records: int
    lines: dict[str, dict[str, str]]
    """Per experiment the digest of each record's line, by the first 16 digits of its key."""
    provenance: ProvenanceMeta
    judged: dict[str, Sealed] = Field(default_factory=dict)
    """What each claim asked and measured when it was first judged, by the name of its seal."""
    chances: dict[str, Chance] = Field(default_factory=dict)
    """How often chance alone would reproduce each claim, by the name of its seal."""
    verdicts: list[dict[str, Any]] = Field(default_factory=list)
