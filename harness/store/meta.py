"""The JSON beside a CSV: where a result came from."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from harness.strict import Strict


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


class ProvenanceMeta(Strict):
    """What all records behind a table have in common, and where they differ, as lists."""

    commits: list[str]
    dirty: bool
    machines: list[dict[str, Any]]
    versions: dict[str, list[str]]
    data: dict[str, dict[str, str]]
    seeds: list[Any]
    code: dict[str, dict[str, int]]
    """Per experiment, how many records each digest of code gave."""
    overrides: dict[str, Any]
    choices: dict[str, list[str]] = Field(default_factory=dict)
    """What code chose by itself: by kernel, what it was done by."""
    wall_s: float
    started_at: str
    finished_at: str


class ResultMeta(Strict):
    """The JSON beside a CSV."""

    schema_version: Literal[3] = 3
    task: str
    profile: str
    stands_in: dict[str, str] = Field(default_factory=dict)
    """By a name of the paper what was run in its place: `{"SVHN": "MNIST"}`."""
    csv_sha256: str
    num_rows: int
    columns: list[ColumnMeta]
    trials: TrialCounts
    not_run: list[NotRun]
    registered: dict[str, str]
    """By claim, what it asked before the trials ran, where all their records say the same."""
    artifacts: dict[str, str] = Field(default_factory=dict)
    """By what the CSV has in its cell, an array that no cell should hold, as text."""
    provenance: ProvenanceMeta
