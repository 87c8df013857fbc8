"""Verdicts of an export of records, decided on them alone: nothing of it is written anywhere."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.declare.overrides import Overrides
from harness.declare.profiles import PROFILES, Profile
from harness.declare.task import Task
from harness.errors import DataError, HarnessError, UsageError
from harness.publish.check_row import CheckRow
from harness.publish.judge import failed_rows
from harness.publish.refresh import judge_built, reference_of, stored_meta
from harness.registry import Library, walk_experiments
from harness.store.trial import cohorts_of, trials_behind
from harness.store.archive import read_archive
from harness.store.record import Record
from harness.store.result import build_result, trials_of
from harness.store.store import RecordStore
from harness.store.workspace import Workspace
from harness.untrusted import in_one_line


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What an export was asked for, as its records tell it."""

    profile: Profile
    overrides: Overrides
    tasks: tuple[Task, ...]
    """Those of whose every experiment it holds a record."""
    known: frozenset[str]
    """The keys of its records that some trial of today has."""
    fits: tuple[int, int, int]
    """How many those are, less how many trials lack one, and how many name this profile."""


def exported(library: Library, workspace: Workspace, file: Path) -> tuple[Asked, list[CheckRow]]:
    """Return what an export was asked for, and its verdicts by today's claims.

    Raises DataError for a file that is damaged, UsageError for one of trials that no profile has
    today: what was asked then is not what is asked now.
    """
    records, _ = read_archive(file, library.tasks.values())
    found = _asked(library, records, file)
    store = RecordStore(workspace.with_overrides(found.overrides)).of(records)
    rows = [row for task in found.tasks for row in _verdicts(library, store, task, found, file)]
    return found, rows


def _asked(library: Library, records: Sequence[Record], file: Path) -> Asked:
    """Return the scale and variant whose trials an export holds, those that lack least."""
    names = {record.experiment for record in records}
    tasks = [t for t in library.tasks.values() if names & {e.id for e in walk_experiments(t)}]
    fitting = max(_candidates(tasks, records), key=lambda each: each.fits, default=None)
    known = fitting.known if fitting else frozenset()
    unlike = sorted(names - {record.experiment for record in records if record.key in known})
    if fitting is None or unlike:
        raise UsageError(
            f"{file} holds trials of {', '.join(unlike) or 'nothing'} that no profile has today, so"
            " that its numbers do not compare: compare at the commit that they were run at"
        )
    return fitting


def _candidates(tasks: Sequence[Task], records: Sequence[Record]) -> Iterator[Asked]:
    keys = frozenset(record.key for record in records if record.is_result)
    for overrides in sorted({Overrides(r.provenance.overrides) for r in records}, key=str):
        for profile in PROFILES:
            try:
                behind = {t.key for t in trials_behind(tasks, profile, overrides)}
                lacking = {t.id: _lacking(t, profile, overrides, keys) for t in tasks}
            except HarnessError:  # such overrides are none of today's parameters
                continue
            told = tuple(task for task in tasks if lacking[task.id] is not None)
            named = sum(record.profile == profile for record in records)
            missing = sum(lacking[task.id] or 0 for task in told)
            if told:
                yield Asked(
                    profile=profile, overrides=overrides, tasks=told, known=keys & behind,
                    fits=(len(keys & behind), -missing, named),
                )  # fmt: skip


def _lacking(
    task: Task, profile: Profile, overrides: Overrides, keys: Collection[str]
) -> int | None:
    """Return how many of a task's trials have no record; None where an experiment has none."""
    had, lacking = dict[str, bool](), 0
    for cohort in cohorts_of(task, profile, overrides):
        for trial in trials_of(task, profile, overrides, cohort=cohort):
            name, has = trial.experiment.id, trial.key in keys
            had[name] = has or had.get(name, False)
            lacking += not has
    return lacking if had and all(had.values()) else None


def _verdicts(
    library: Library, store: RecordStore, task: Task, asked: Asked, file: Path
) -> list[CheckRow]:
    """Return a task's verdicts; what its records do not give is an ERROR of its claims."""
    try:
        built = build_result(task, asked.profile, store.read, asked.overrides)
        if built is None:
            return []
        reference = reference_of(library, task)
        # What claims measured when first judged is told here, as it would be after an import.
        stored = stored_meta(store.workspace, task, asked.profile)
        return judge_built(store, task, asked.profile, built, reference, stored)[1].rows
    except HarnessError as error:
        return failed_rows(task, asked.profile, error)
    except Exception as error:  # noqa: BLE001 - whatever a view makes of rows that anybody wrote
        told = f"{file}: its records give no table ({in_one_line(error)})"
        return failed_rows(task, asked.profile, DataError(told))
