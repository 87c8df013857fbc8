"""What was sealed before records held it: results/<paper>/sealed.json, made from git by a tool.

For records of that time it is the sealed side: bands, trial keys, samples and verdicts as they
were at one commit, the first seal that each trial carried, and what its code was.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from harness.errors import DataError
from harness.provenance.seals import Band, Outcome, Seal, Sealed, State, keys_digest
from harness.store.record import Record
from harness.strict import Strict, explain
from harness.untrusted import Stamp, UnreadableError, read_bytes, stamp

NAME = "sealed.json"
UNDECIDED = ("NOT_RUN", "ERROR")
SCHEMA_OF_CODE = 2
"""Records of this schema on hold today's digest of their code."""


class Entry(Strict):
    """One claim as it stood at the commit."""

    statement: str
    where: str
    unit: str
    band: Band
    code: str
    verdict: str
    reason: str
    measured: float | None
    low: float | None
    high: float | None
    num_seeds: int
    seal: State
    sealed_threshold: Any = None
    seeds: list[int] = Field(default_factory=list)
    samples: list[list[float | str]] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Former:
    """A claim's sealed side, how it stood to its records then, and what differed."""

    side: Sealed
    state: State
    note: str


class TaskEntry(Strict):
    reads: list[str]
    claims: dict[str, Entry]


class FirstSeals(Strict):
    """The seals that some trials carried when they first ran."""

    seals: dict[str, dict[str, Any]]
    keys: list[str]


class ExperimentEntry(Strict):
    keys: list[str]
    code: dict[str, str]
    """By the commit that a record ran at, the digest of the experiment's code there."""
    first_seals: list[FirstSeals]


class Before(Strict):
    """The export of one paper."""

    schema_version: int
    commit: str
    profile: str
    experiments: dict[str, ExperimentEntry]
    tasks: dict[str, TaskEntry]

    def sealed(self, task_id: str, claim_id: str, profile: str) -> Former | None:
        """Return how a claim stood at the commit; None where it had not been run."""
        task = self.tasks.get(task_id)
        entry = task.claims.get(claim_id) if task is not None else None
        if task is None or entry is None or entry.seal == "none" or profile != self.profile:
            return None
        read = [self.experiments[name] for name in task.reads if name in self.experiments]
        keys = (key for experiment in read for key in experiment.keys)
        side = Sealed(
            statement=entry.statement,
            where=entry.where,
            unit=entry.unit,
            seal=Seal(band=entry.band, keys={profile: keys_digest(keys)}, code=entry.code),
            outcome=None if entry.verdict in UNDECIDED else _outcome(entry),
        )
        then = entry.sealed_threshold
        note = "" if then is None else f"threshold: {then} when its trials ran"
        return Former(side, entry.seal, note)

    def named(self, name: str, profile: str) -> Former | None:
        """Return the same by the name of the claim's seal."""
        task_id, _, claim_id = name.partition(":")
        return self.sealed(task_id, claim_id, profile)

    def first_seals(self, experiment_id: str, key: str) -> Mapping[str, dict[str, Any]] | None:
        """Return the seals that a trial carried when it first ran; None for a later trial."""
        entry = self.experiments.get(experiment_id)
        groups = entry.first_seals if entry is not None else []
        return next((group.seals for group in groups if key in group.keys), None)


def _outcome(entry: Entry) -> Outcome:
    return Outcome(**{name: getattr(entry, name) for name in Outcome.model_fields})


def load_before(root: Path, paper: str) -> Before | None:
    """Return a paper's export, None where it has none. Raises DataError for a damaged one."""
    path = root / "results" / paper / NAME
    changed = stamp(path)
    return None if changed is None else _load(path, changed)


@functools.lru_cache(maxsize=16)
def _load(path: Path, changed: Stamp) -> Before:
    try:
        return Before.model_validate_json(read_bytes(path))
    except UnreadableError as error:
        raise DataError(f"{error}: restore it with git checkout") from error
    except ValidationError as error:
        raise DataError(
            f"{path} is damaged ({explain(error)}): restore it with git checkout"
        ) from error


def code_of(record: Record | Mapping[str, Any], before: Before | None) -> str | None:
    """Return today's digest of the code that a record ran; None where nothing tells it."""
    body = record.model_dump() if isinstance(record, Record) else record
    source = body["provenance"]
    if body["schema_version"] >= SCHEMA_OF_CODE:
        return str(source["code"])
    entry = before.experiments.get(body["experiment"]) if before is not None else None
    return entry.code.get(source["commit"]) if entry is not None else None
