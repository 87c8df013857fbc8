"""A task's stored result: the CSV, and the JSON beside it that says where it came from."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import Field

from harness.canonical import canonical_json, digest, layered_json
from harness.declare.overrides import Overrides
from harness.declare.params import Scalar
from harness.declare.profiles import Profile
from harness.declare.table import Table
from harness.declare.task import Task
from harness.errors import DataError
from harness.outgoing import tidy
from harness.store.pair import read_pair, write_pair
from harness.store.record import Record
from harness.store.store import RecordStore, Rejected
from harness.store.table_csv import build_table, csv_text, long_frame, parse_csv, sha256_text
from harness.store.trial import Trial, grid_of
from harness.store.workspace import Workspace
from harness.strict import Strict
from harness.untrusted import UnreadableError, in_one_line, is_there, parse_json

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

ADVICE = "run the task again or restore the file"
ARTIFACT_DIGITS = 16


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
    columns: list[dict[str, Any]]
    trials: TrialCounts
    not_run: list[NotRun]
    registered: dict[str, str]
    """By claim, what it asked before the trials ran, where all their records say the same."""
    artifacts: dict[str, str] = Field(default_factory=dict)
    """By what the CSV has in its cell, an array that no cell should hold, as text."""
    provenance: ProvenanceMeta


@dataclass(frozen=True, slots=True)
class TaskResult:
    """A task's result: built from records, or read back and checked."""

    table: pd.DataFrame
    meta: ResultMeta
    csv: str


def csv_path(workspace: Workspace, task: Task, profile: Profile) -> Path:
    return workspace.results(profile) / f"{task.id}.{profile}.csv"


def figure_path(workspace: Workspace, task: Task, profile: Profile) -> Path:
    return workspace.figures(profile) / f"{task.id}.{profile}.svg"


def build_result(
    task: Task,
    profile: Profile,
    find: Callable[[Trial], Record | Rejected | None],
    overrides: Mapping[str, Scalar] | None = None,
    *,
    stands_in: Mapping[str, str] | None = None,
) -> TaskResult | None:
    """Return a task's table and its origin from records that `find` gives; None without a row."""
    counts, not_run = Counter[str](), list[NotRun]()
    records: dict[str, list[Record]] = {experiment.id: [] for experiment in task.reads}
    for trial in (t for each in task.reads for t in grid_of(each, profile, overrides)):
        record = find(trial)
        counts[record.status if isinstance(record, Record) else "missing"] += 1
        if isinstance(record, Record) and record.is_result:
            records[trial.experiment.id].append(record)
        else:
            not_run.append(NotRun(trial=trial.name, reason=_why_not(record)))
    results = [record for group in records.values() for record in group]
    frames = {name: long_frame(group) for name, group in records.items()}
    # The trials that a task shows may be none of those that its experiments have at this profile.
    if not results or (table := build_table(task, frames)).empty:
        return None
    shown, artifacts = _without_artifacts(table, task.table)
    text = csv_text(shown)
    meta = ResultMeta(
        task=task.id,
        profile=profile,
        stands_in=dict(stands_in or {}),
        csv_sha256=sha256_text(text),
        num_rows=len(table),
        columns=[asdict(column) for column in task.table.columns],
        trials=TrialCounts(**counts),
        not_run=not_run,
        registered=_registered(task, results),
        artifacts=artifacts,
        provenance=_collect_provenance(results, dict(overrides or {})),
    )
    return TaskResult(table, meta, text)


def _why_not(record: Record | Rejected | None) -> str:
    """Return why a trial has no result; what an older harness wrote was not looked at then."""
    if record is None:
        return "it was not run"
    return tidy(record.note or record.error if isinstance(record, Record) else record.reason)


def _without_artifacts(table: pd.DataFrame, columns: Table) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return a table with digests in the place of artifacts, and these by their digests."""
    found: dict[str, str] = {}

    def named(cell: Any) -> Any:
        if not isinstance(cell, str):
            return cell
        name = sha256_text(cell)[:ARTIFACT_DIGITS]
        found[name] = cell
        return name

    names = [column.name for column in columns.columns if column.role == "artifact"]
    return table.assign(**{name: table[name].map(named) for name in names}), found


def _registered(task: Task, records: Sequence[Record]) -> dict[str, str]:
    """Return by claim the digest that all records hold of it."""
    found = {}
    for claim in task.claims:
        name = f"{task.id}:{claim.id}"
        told = {record.registered.get(name, "") for record in records}
        if len(told) == 1 and (made := told.pop()):
            found[claim.id] = made
    return found


def _collect_provenance(records: Sequence[Record], overrides: dict[str, Scalar]) -> ProvenanceMeta:
    sources = [record.provenance for record in records]
    # The load is a fact of a moment, not of a machine.
    machines = {
        canonical_json({k: v for k, v in machine.items() if k != "load_average"})
        for machine in _in_turn(source.machine for source in sources)
    }
    return ProvenanceMeta(
        commits=sorted({source.commit for source in sources}),
        dirty=any(source.dirty for source in sources),
        machines=[json.loads(machine) for machine in sorted(machines)],
        versions=_all_told(source.versions for source in sources),
        data={name: value for source in sources for name, value in sorted(source.data.items())},
        seeds=sorted({r.params["seed"] for r in records if "seed" in r.params}, key=str),
        code=_codes(records),
        overrides=overrides,
        choices=_all_told(source.choices for source in sources),
        wall_s=round(sum(source.wall_s for source in sources), 3),
        started_at=min(source.started_at for source in sources),
        finished_at=max(source.started_at for source in sources),
    )


def _in_turn(facts: Iterable[T]) -> Iterator[T]:
    """Yield what each record says, and once what one after the other does: a run's are alike."""
    return (told for told, _ in groupby(facts))


def _codes(records: Iterable[Record]) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = {}
    for record in records:
        found.setdefault(record.experiment, Counter())[record.provenance.code] += 1
    return {name: dict(sorted(counts.items())) for name, counts in sorted(found.items())}


def _all_told(facts: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    """Return by name every value that was told, in the order of names and values."""
    found: dict[str, set[str]] = {}
    for name, value in (item for told in _in_turn(facts) for item in told.items()):
        found.setdefault(name, set()).add(value)
    return {name: sorted(values) for name, values in sorted(found.items())}


def write_result(workspace: Workspace, task: Task, result: TaskResult) -> Path:
    """Write the CSV and the JSON beside it, where they differ from what is there.

    No reader sees one without the other.
    """
    path = csv_path(workspace, task, result.meta.profile)  # type: ignore[arg-type]
    write_pair(path, result.csv.encode(), json_text(result.meta).encode())
    return path


def json_text(meta: ResultMeta) -> str:
    """Return the JSON beside a CSV, with a digest of all else that stands in it."""
    body = meta.model_dump(mode="json")
    full = {**body, "digest": digest(body)}
    return layered_json(full, 2) + "\n"


def _parse_meta(data: bytes, path: Path) -> ResultMeta:
    try:
        body = parse_json(data, where=str(path))
        found = body.pop("digest", None)
        meta = ResultMeta.model_validate(body)
        is_as_written = found == digest(body)
    except UnreadableError as error:
        raise DataError(f"{error}: {ADVICE}") from error
    except (ValueError, AttributeError, TypeError) as error:
        raise DataError(f"{path} is damaged ({in_one_line(error)}): {ADVICE}") from error
    if not is_as_written:
        raise DataError(f"{path} was edited: it does not match its digest: {ADVICE}")
    return meta


def read_stored(path: Path) -> tuple[bytes, ResultMeta] | None:
    """Return a CSV and where it came from, None where neither is there.

    Raises DataError where one of the two is missing or the JSON cannot be used.
    """
    beside, (data, json_data) = path.with_suffix(".json"), read_pair(path)
    if data is json_data is None:
        return None
    if data is None or json_data is None:
        gone = path if data is None else beside
        raise DataError(f"{gone} is missing beside its twin: run the task again")
    return data, _parse_meta(json_data, beside)


def is_stored(workspace: Workspace, name: str, profile: Profile) -> bool:
    """Return whether there is a result of a task, by its id, whole or not."""
    path = workspace.results(profile) / f"{name}.{profile}.csv"
    return is_there(path) or is_there(path.with_suffix(".json"))


def load_result(workspace: Workspace, task: Task, profile: Profile) -> TaskResult | None:
    """Read a stored result; None where the task was not run in this profile.

    Raises DataError where the CSV or the JSON was changed by hand.
    """
    path = csv_path(workspace, task, profile)
    found = read_stored(path)
    if found is None:
        return None
    (data, meta), beside = found, path.with_suffix(".json")
    if (meta.task, meta.profile) != (task.id, profile):
        raise DataError(f"{beside} is of {meta.task} at {meta.profile}: {ADVICE}")
    if meta.provenance.overrides != workspace.overrides:
        told = Overrides(meta.provenance.overrides).label or "no variant"
        raise DataError(f"{beside} is of {told}: {ADVICE}")
    try:
        table = parse_csv(data, task.table, where=str(path))
    except (csv.Error, ValueError, OverflowError) as error:
        raise DataError(f"{path} is no table ({in_one_line(error)}): {ADVICE}") from error
    # With its line ends as they are: another one is a change too.
    text = data.decode()
    if sha256_text(text) != meta.csv_sha256:
        raise DataError(
            f"{path} was changed after it was written (its hash differs from the one in"
            f" {beside.name}): {ADVICE}"
        )
    for column in task.table.columns:
        if column.role == "artifact":
            table[column.name] = table[column.name].map(meta.artifacts, na_action="ignore")
    return TaskResult(table, meta, text)


def check_rebuilt(workspace: Workspace, task: Task, profile: Profile, stored: TaskResult) -> None:
    """Raise DataError unless the committed records alone give just what is stored."""
    store = RecordStore(workspace)
    records = {record.key: record for e in task.reads for record in store.packed(e.id, profile)}
    stands_in = stored.meta.stands_in
    again = build_result(task, profile, lambda trial: records.get(trial.key), stands_in=stands_in)
    path = csv_path(workspace, task, profile)
    if again is None or again.csv != stored.csv:
        raise DataError(f"{path} does not follow from the committed records: {ADVICE}")
    if again.meta != stored.meta:
        beside = path.with_suffix(".json")
        raise DataError(f"{beside} does not follow from the committed records: {ADVICE}")
