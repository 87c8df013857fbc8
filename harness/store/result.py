"""A task's stored result: the CSV, and the JSON beside it that says where it came from."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.declare.cohorts import FIRST
from harness.declare.overrides import Overrides
from harness.declare.params import Scalar
from harness.declare.profiles import Profile
from harness.declare.table import Column, Table
from harness.declare.task import Task
from harness.errors import DataError, HarnessError
from harness.outgoing import tidy
from harness.canonical import canonical_json, digest, layered_json
from harness.run.trial import Trial, cohorts_of, grid_of
from harness.store.meta import (
    SCHEMA_VERSION,
    ColumnMeta,
    NotRun,
    ProvenanceMeta,
    ResultMeta,
    TrialCounts,
)
from harness.store.pair import read_pair, write_pair
from harness.store.record import Record, line_digest, read_pack
from harness.store.store import RecordStore, Rejected
from harness.store.table_csv import (
    build_table,
    csv_text,
    first_difference,
    long_frame,
    parse_csv,
    sha256_text,
)
from harness.store.workspace import Workspace
from harness.untrusted import (
    UnreadableError,
    in_one_line,
    is_there,
    parse_json,
    read_bytes,
)

if TYPE_CHECKING:
    import pandas as pd

KEY_DIGITS = 16
"""How much of a trial's key stands where a file names many."""


@dataclass(frozen=True, slots=True)
class TaskResult:
    """A task's result: built from records, or read back and checked."""

    tables: dict[str, pd.DataFrame]
    """By cohort, without a column for it."""
    meta: ResultMeta
    csv: str
    runs: dict[str, dict[str, pd.DataFrame]] = field(default_factory=dict)
    """By cohort and experiment the long tables behind it, where it was built from records."""

    @property
    def table(self) -> pd.DataFrame:
        """What pages and figures show: the table of the first cohort that was run."""
        return next(iter(self.tables.values()))

    def knowing(self, **facts: Any) -> TaskResult:
        """Return the result with more in its JSON."""
        return replace(self, meta=self.meta.model_copy(update=facts))

    def only(self, cohort: str) -> TaskResult:
        """Return what it has of one cohort that was run."""
        not_run = [gap for gap in self.meta.not_run if gap.cohort == cohort]
        facts = {"trials": self.counts(cohort), "cohorts": {}, "not_run": not_run}
        table = self.tables[cohort]
        return replace(self, tables={cohort: table}, csv=csv_text(table)).knowing(**facts)

    def counts(self, cohort: str) -> TrialCounts:
        """Return how a cohort's trials ended."""
        return self.meta.trials if cohort == FIRST else self.meta.cohorts[cohort]


def csv_path(workspace: Workspace, task: Task, profile: Profile) -> Path:
    paper, word = task.id.split("/")
    return workspace.results(profile) / paper / f"{word}.{profile}.csv"


def figure_path(workspace: Workspace, task: Task, profile: Profile, cohort: str = FIRST) -> Path:
    """Return where a figure lies; that of another cohort than the first never among those."""
    paper, word = task.id.split("/")
    first = workspace.figures(profile)
    folder = first if cohort == FIRST else workspace.outputs / cohort / "figures"
    return folder / paper / f"{word}.{profile}.svg"


def trials_of(
    task: Task,
    profile: Profile,
    overrides: Mapping[str, Scalar] | None = None,
    *,
    cohort: str = FIRST,
) -> list[Trial]:
    """Return the trials whose rows a task shows, in the order of its table."""
    return [
        trial for exp in task.reads for trial in grid_of(exp, profile, overrides, cohort=cohort)
    ]


@dataclass(slots=True)
class _Gathered:
    """The records of one cohort, and what there is none of."""

    records: dict[str, list[Record]]
    counts: Counter[str] = field(default_factory=Counter)
    not_run: list[NotRun] = field(default_factory=list)

    @property
    def results(self) -> list[Record]:
        return [record for group in self.records.values() for record in group]


FindRecord = Callable[[Trial], Record | Rejected | None]


def build_result(
    task: Task,
    profile: Profile,
    find: FindRecord,
    overrides: Mapping[str, Scalar] | None = None,
) -> TaskResult | None:
    """Return a task's tables and their provenance from the records; None where none is a result.

    find: returns the record of a trial, as `RecordStore.read` does.
    """
    names = cohorts_of(task, profile, overrides)
    gathered = {name: _gather(task, profile, find, overrides, cohort=name) for name in names}
    # A cohort that is declared and was not begun changes nothing that is stored.
    found = {name: each for name, each in gathered.items() if name == FIRST or each.results}
    results = {r.key: r for each in found.values() for r in each.results}
    if not results:
        return None
    runs = {
        name: {n: long_frame(g) for n, g in each.records.items()}
        for name, each in found.items()
        if each.results
    }
    tables = {name: build_table(task, frames) for name, frames in runs.items()}
    columns = task.table if list(tables) == [FIRST] else with_cohort(task.table)
    text = csv_text(_joined(tables))
    meta = ResultMeta(
        task=task.id,
        profile=profile,
        csv_sha256=sha256_text(text),
        num_rows=sum(len(table) for table in tables.values()),
        columns=[ColumnMeta(**asdict(column)) for column in columns.columns],
        trials=TrialCounts(**found[FIRST].counts),
        cohorts={n: TrialCounts(**g.counts) for n, g in found.items() if n != FIRST},
        not_run=[gap for each in found.values() for gap in each.not_run],
        num_records=len(results),
        lines=_lines_of(results.values()),
        provenance=_collect_provenance(list(results.values()), dict(overrides or {})),
    )
    return TaskResult(tables, meta, text, runs)


def _gather(
    task: Task,
    profile: Profile,
    find: FindRecord,
    overrides: Mapping[str, Scalar] | None,
    *,
    cohort: str,
) -> _Gathered:
    found = _Gathered({experiment.id: [] for experiment in task.reads})
    for trial in trials_of(task, profile, overrides, cohort=cohort):
        record = find(trial)
        if not isinstance(record, Record):
            found.counts["missing"] += 1
            reason = "it was not run" if record is None else tidy(record.reason)
            found.not_run.append(NotRun(trial=trial.name, reason=reason, cohort=cohort))
            continue
        found.counts[record.status] += 1
        if record.is_result:
            found.records[trial.experiment.id].append(record)
        else:
            # What an older harness wrote down was not looked at then.
            reason = tidy(record.note or record.error)
            found.not_run.append(NotRun(trial=trial.name, reason=reason, cohort=cohort))
    return found


COHORT = Column(name="cohort", type="str", role="param", doc="named set of seeds")


def with_cohort(columns: Table) -> Table:
    """Return the columns of a CSV that holds more than one cohort."""
    return Table((COHORT, *columns.columns))


def _joined(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    if list(tables) == [FIRST]:
        return tables[FIRST]
    parts = [table.assign(cohort=name) for name, table in tables.items()]
    joined = pd.concat(parts, ignore_index=True)
    return joined[["cohort", *(name for name in joined.columns if name != "cohort")]]


def _split(table: pd.DataFrame, columns: Table) -> dict[str, pd.DataFrame]:
    if columns.names[0] != "cohort":
        return {FIRST: table}
    return {
        str(name): part.drop(columns="cohort").reset_index(drop=True)
        for name, part in table.groupby("cohort", sort=False)
    }


def _lines_of(records: Iterable[Record]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for record in records:
        found.setdefault(record.experiment, {})[record.key[:KEY_DIGITS]] = line_digest(
            record.to_line()
        )
    return found


def _collect_provenance(records: Sequence[Record], overrides: dict[str, Scalar]) -> ProvenanceMeta:
    sources = [record.provenance for record in records]
    # The load is a fact of a moment, not of a machine.
    machines = {
        canonical_json({k: v for k, v in source.machine.items() if k != "load_average"})
        for source in sources
    }
    return ProvenanceMeta(
        commits=sorted({source.commit for source in sources}),
        dirty=any(source.dirty for source in sources),
        machines=[json.loads(machine) for machine in sorted(machines)],
        versions=_all_told(source.versions for source in sources),
        data={name: value for source in sources for name, value in sorted(source.data.items())},
        seeds=sorted({r.params["seed"] for r in records if "seed" in r.params}, key=str),
        code=sorted({source.code for source in sources}),
        overrides=overrides,
        choices=_all_told(source.choices for source in sources),
        wall_s=round(sum(source.wall_s for source in sources), 3),
        started_at=min(source.started_at for source in sources),
        finished_at=max(source.started_at for source in sources),
    )


def _all_told(facts: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    """Return by name every value that was told, in the order of names and values."""
    found: dict[str, set[str]] = {}
    for told in facts:
        for name, value in told.items():
            found.setdefault(name, set()).add(value)
    return {name: sorted(values) for name, values in sorted(found.items())}


def write_result(workspace: Workspace, task: Task, result: TaskResult) -> Path:
    """Write the CSV and the JSON beside it, so that no reader sees one without the other."""
    path = csv_path(workspace, task, result.meta.profile)  # type: ignore[arg-type]
    write_pair(path, result.csv.encode(), json_text(result.meta).encode())
    return path


def json_text(meta: ResultMeta) -> str:
    """Return the JSON beside a CSV, with a digest of all else that stands in it."""
    body = meta.model_dump(mode="json")
    if not meta.provenance.choices:
        # A result without choices is as it was before any were noted.
        del body["provenance"]["choices"]
    full = {**body, "digest": digest(body)}
    return layered_json(full, 2) + "\n"


def read_meta(path: Path) -> ResultMeta:
    """Read the JSON beside a CSV. Raises DataError if it is damaged, edited or of another time."""
    return _parse_meta(read_bytes(path), path)


def _parse_meta(data: bytes, path: Path) -> ResultMeta:
    advice = "run the task again or restore the file"
    try:
        body = parse_json(data, where=str(path))
        found = body.pop("digest", None)
        version = body.get("schema_version")
        meta = ResultMeta.model_validate(body) if version == SCHEMA_VERSION else None
        is_as_written = found == digest(body)
    except UnreadableError as error:
        raise DataError(f"{error}: {advice}") from error
    except (ValueError, AttributeError, TypeError) as error:
        raise DataError(f"{path} is damaged ({in_one_line(error)}): {advice}") from error
    if meta is None:
        raise DataError(f"{path} has schema version {version}, need {SCHEMA_VERSION}: {advice}")
    if not is_as_written:
        raise DataError(f"{path} was edited: it does not match its digest: {advice}")
    return meta


def is_stored(workspace: Workspace, task: Task, profile: Profile) -> bool:
    """Return whether there is a result, whole or not."""
    path = csv_path(workspace, task, profile)
    return is_there(path) or is_there(path.with_suffix(".json"))


def load_meta(workspace: Workspace, task: Task, profile: Profile) -> ResultMeta | None:
    """Read the JSON of a stored result; None where the task was not run in this profile.

    Raises DataError where it was changed by hand, or the CSV is missing.
    """
    stored = _stored_pair(csv_path(workspace, task, profile))
    return None if stored is None else stored[1]


def _stored_pair(path: Path) -> tuple[bytes, ResultMeta] | None:
    """Return a CSV as it is and what stands in the JSON beside it; None where neither is there."""
    beside, pair = path.with_suffix(".json"), read_pair(path)
    if pair.csv is None and pair.json is None:
        return None
    if pair.csv is None or pair.json is None:
        gone = path if pair.csv is None else beside
        raise DataError(f"{gone} is missing beside its twin: run the task again")
    return pair.csv, _parse_meta(pair.json, beside)


def load_result(workspace: Workspace, task: Task, profile: Profile) -> TaskResult | None:
    """Read a stored result; None where the task was not run in this profile.

    Raises DataError where the CSV or the JSON was changed by hand, with file and line.
    """
    path = csv_path(workspace, task, profile)
    beside, stored = path.with_suffix(".json"), _stored_pair(path)
    if stored is None:
        return None
    data, meta = stored
    has_cohorts = meta.columns[:1] == [ColumnMeta(**asdict(COHORT))]
    columns = with_cohort(task.table) if has_cohorts else task.table
    if (meta.task, meta.profile) != (task.id, profile):
        raise DataError(
            f"{beside} is of {meta.task} at {meta.profile}: run {task.id} again or restore the file"
        )
    if meta.provenance.overrides != workspace.overrides:
        told = Overrides(meta.provenance.overrides).label or "no variant"
        raise DataError(f"{beside} is of {told}: run {task.id} again or restore the file")
    try:
        table = parse_csv(data, columns, where=str(path))
    except (csv.Error, ValueError, OverflowError) as error:
        raise DataError(
            f"{path} is no table ({in_one_line(error)}): run the task again or restore the file"
        ) from error
    # With its line ends as they are: another one is a change too.
    text = data.decode()
    if sha256_text(text) != meta.csv_sha256:
        raise DataError(_where_changed(workspace, task, profile, path, text))
    return TaskResult(_split(table, columns), meta, text)


def _where_changed(
    workspace: Workspace, task: Task, profile: Profile, path: Path, text: str
) -> str:
    """Say which line of a CSV differs from the committed records, where these tell it."""
    try:
        rebuilt = _rebuild_csv(workspace, task, profile)
    except HarnessError:
        rebuilt = None
    line = first_difference(text, rebuilt) if rebuilt else 0
    place = f"{path} line {line}" if line else str(path)
    return (
        f"{place} was changed after it was written (its hash differs from the one in "
        f"{path.with_suffix('.json').name}): run the task again or restore the file"
    )


def _rebuild_csv(workspace: Workspace, task: Task, profile: Profile) -> str | None:
    """Return the CSV as the committed records give it; None where they are not all there."""
    result = rebuild_result(workspace, task, profile)
    return None if result is None else result.csv


def rebuild_result(workspace: Workspace, task: Task, profile: Profile) -> TaskResult | None:
    """Build a result from the committed records alone; None where there are none."""
    packs = [RecordStore(workspace).pack_path(e.id, profile) for e in task.reads]
    records = {record.key: record for pack in packs if is_there(pack) for record in read_pack(pack)}
    return build_result(task, profile, lambda trial: records.get(trial.key))
