"""A task's stored result: the CSV, and the JSON beside it that says where it came from."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationError

from harness.atomic import write_text
from harness.canonical import canonical_json
from harness.errors import DataError, HarnessError
from harness.records import Record, RecordStore, Strict, read_pack
from harness.tables import (
    build_table,
    csv_text,
    first_difference,
    long_frame,
    read_csv,
    sha256_text,
)
from harness.task import Profile, Scalar, Task
from harness.trial import Trial, grid_of
from harness.workspace import Workspace

if TYPE_CHECKING:
    import pandas as pd

SCHEMA_VERSION = 1


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


class NotRun(Strict):
    trial: str
    reason: str


class SealMeta(Strict):
    sha256: str
    threshold: Any
    num_records: int


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
    wall_s: float
    started_at: str
    finished_at: str


class ResultMeta(Strict):
    """The JSON beside a CSV."""

    schema_version: int = SCHEMA_VERSION
    task: str
    profile: str
    csv_sha256: str
    num_rows: int
    columns: list[ColumnMeta]
    trials: TrialCounts
    not_run: list[NotRun]
    num_records: int
    seals: dict[str, list[SealMeta]]
    provenance: ProvenanceMeta
    verdicts: list[dict[str, Any]] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TaskResult:
    """A stored result, read back and checked."""

    table: pd.DataFrame
    meta: ResultMeta
    csv_path: Path


def csv_path(workspace: Workspace, task: Task, profile: Profile) -> Path:
    paper, word = task.id.split("/")
    return workspace.results(profile) / paper / f"{word}.{profile}.csv"


def figure_path(workspace: Workspace, task: Task, profile: Profile) -> Path:
    paper, word = task.id.split("/")
    return workspace.figures(profile) / paper / f"{word}.{profile}.svg"


def trials_of(
    task: Task, profile: Profile, overrides: Mapping[str, Scalar] | None = None
) -> list[Trial]:
    """Return the trials whose rows a task shows, in the order of its table."""
    return [trial for exp in task.reads for trial in grid_of(exp, profile, overrides)]


def build_result(
    task: Task,
    profile: Profile,
    store: RecordStore,
    overrides: Mapping[str, Scalar] | None = None,
) -> tuple[pd.DataFrame, ResultMeta] | None:
    """Return a task's table and its provenance from the records; None where none is a result."""
    trials = trials_of(task, profile, overrides)
    records: dict[str, list[Record]] = {experiment.id: [] for experiment in task.reads}
    counts: Counter[str] = Counter()
    not_run = []
    for trial in trials:
        record = store.read(trial)
        if not isinstance(record, Record):
            counts["missing"] += 1
            reason = "it was not run" if record is None else record.reason
            not_run.append(NotRun(trial=trial.name, reason=reason))
            continue
        counts[record.status] += 1
        if record.is_result:
            records[trial.experiment.id].append(record)
        else:
            not_run.append(NotRun(trial=trial.name, reason=record.note or record.error))
    results = [record for group in records.values() for record in group]
    if not results:
        return None
    table = build_table(task, {name: long_frame(group) for name, group in records.items()})
    meta = ResultMeta(
        task=task.id,
        profile=profile,
        csv_sha256=sha256_text(csv_text(table)),
        num_rows=len(table),
        columns=[ColumnMeta(**asdict(column)) for column in task.columns.columns],
        trials=TrialCounts(**counts),
        not_run=not_run,
        num_records=len(results),
        seals=_collect_seals(task, results),
        provenance=_collect_provenance(results, dict(overrides or {})),
    )
    return table, meta


def _collect_seals(task: Task, records: Sequence[Record]) -> dict[str, list[SealMeta]]:
    """Return, per claim of the task, the distinct seals its records carry."""
    found: dict[str, Counter[str]] = {}
    for record in records:
        for name, seal in record.seals.items():
            if name.startswith(f"{task.id}:"):
                found.setdefault(name, Counter())[canonical_json(seal)] += 1
    return {
        name: [
            SealMeta(**json.loads(text), num_records=count) for text, count in sorted(seals.items())
        ]
        for name, seals in sorted(found.items())
    }


def _collect_provenance(records: Sequence[Record], overrides: dict[str, Scalar]) -> ProvenanceMeta:
    sources = [record.provenance for record in records]
    # The load is a fact of a moment, not of a machine.
    machines = {
        canonical_json({k: v for k, v in source.machine.items() if k != "load_average"})
        for source in sources
    }
    versions: dict[str, set[str]] = {}
    for source in sources:
        for name, version in source.versions.items():
            versions.setdefault(name, set()).add(version)
    return ProvenanceMeta(
        commits=sorted({source.commit for source in sources}),
        dirty=any(source.dirty for source in sources),
        machines=[json.loads(machine) for machine in sorted(machines)],
        versions={name: sorted(found) for name, found in sorted(versions.items())},
        data={name: value for source in sources for name, value in sorted(source.data.items())},
        seeds=sorted({r.params["seed"] for r in records if "seed" in r.params}, key=str),
        code=sorted({source.code for source in sources}),
        overrides=overrides,
        wall_s=round(sum(source.wall_s for source in sources), 3),
        started_at=min(source.started_at for source in sources),
        finished_at=max(source.started_at for source in sources),
    )


def write_result(workspace: Workspace, task: Task, table: pd.DataFrame, meta: ResultMeta) -> Path:
    """Write the CSV and the JSON beside it; the CSV first, since the JSON holds its hash."""
    path = csv_path(workspace, task, meta.profile)  # type: ignore[arg-type]
    write_text(path, csv_text(table))
    body = json.dumps(meta.model_dump(mode="json"), indent=1, sort_keys=True, ensure_ascii=False)
    write_text(path.with_suffix(".json"), body + "\n")
    return path


def load_result(workspace: Workspace, task: Task, profile: Profile) -> TaskResult | None:
    """Read a stored result; None where the task was not run in this profile.

    Raises DataError where the CSV or the JSON was changed by hand, with file and line.
    """
    path = csv_path(workspace, task, profile)
    beside = path.with_suffix(".json")
    if not path.exists() and not beside.exists():
        return None
    for needed in (path, beside):
        if not needed.exists():
            raise DataError(f"{needed} is missing beside its twin: run the task again")
    try:
        meta = ResultMeta.model_validate_json(beside.read_text(encoding="utf-8"))
    except (ValidationError, UnicodeDecodeError) as error:
        raise DataError(
            f"{beside} is damaged ({_in_one_line(error)}): run the task again or restore the file"
        ) from error
    if (meta.task, meta.profile) != (task.id, profile):
        raise DataError(
            f"{beside} is of {meta.task} at {meta.profile}: run {task.id} again or restore the file"
        )
    try:
        table = read_csv(path, task.columns)
    except (csv.Error, ValueError, OverflowError) as error:
        raise DataError(
            f"{path} is no table ({_in_one_line(error)}): run the task again or restore the file"
        ) from error
    # Bytes, not text: another line end is a change too.
    if hashlib.sha256(path.read_bytes()).hexdigest() != meta.csv_sha256:
        raise DataError(_where_changed(workspace, task, profile, path))
    return TaskResult(table, meta, path)


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def _where_changed(workspace: Workspace, task: Task, profile: Profile, path: Path) -> str:
    """Say which line of a CSV differs from the committed records, where these tell it."""
    try:
        rebuilt = _rebuild_csv(workspace, task, profile)
    except HarnessError:
        rebuilt = None
    line = first_difference(path.read_text(encoding="utf-8"), rebuilt) if rebuilt else 0
    place = f"{path} line {line}" if line else str(path)
    return (
        f"{place} was changed after it was written (its hash differs from the one in "
        f"{path.with_suffix('.json').name}): run the task again or restore the file"
    )


def _rebuild_csv(workspace: Workspace, task: Task, profile: Profile) -> str | None:
    """Return the CSV as the committed records give it; None where they are not all there."""
    packs = {e.id: RecordStore(workspace).pack_path(e.id, profile) for e in task.reads}
    if not all(pack.exists() for pack in packs.values()):
        return None
    by_key = {record.key: record for pack in packs.values() for record in read_pack(pack)}
    frames = {}
    for experiment in task.reads:
        keys = [trial.key for trial in grid_of(experiment, profile)]
        frames[experiment.id] = long_frame(by_key[key] for key in keys if key in by_key)
    return csv_text(build_table(task, frames))
