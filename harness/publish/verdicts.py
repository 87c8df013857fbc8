"""Verdicts of chosen tasks, decided anew on what is stored, with what their claims state."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from harness.declare.claims import Claim
from harness.declare.overrides import Overrides
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.errors import SpecError, UsageError, nearest
from harness.publish.check_row import CheckRow
from harness.publish.judge import check_stored, failed_rows, profiles_to_check
from harness.publish.labels import Labels, labels_of
from harness.publish.refresh import reference_of
from harness.publish.report.check_text import Shown
from harness.publish.report.units import reading, what_number
from harness.publish.withdrawn import withdrawn_rows
from harness.registry import Library
from harness.run.trial import check_cohort
from harness.store.workspace import Workspace

if TYPE_CHECKING:
    import pandas as pd

Place = tuple[Task, Profile]
"""A task at one scale."""


def decided(
    library: Library,
    workspace: Workspace,
    tasks: Sequence[Task],
    wanted: Profile | None,
    cohort: str | None,
    *,
    gone: Sequence[str] | None,
    deep: bool = False,
) -> list[CheckRow]:
    """Return what `repro check` tells of some tasks.

    wanted: by default the committed profiles; cohort: its verdicts alone; gone: what was asked
    for, where claims that are gone from it are told, too; deep: as `check_stored` says.
    Raises UsageError for a cohort that no task has.
    """
    places = places_of(workspace, tasks, wanted, cohort)
    rows = verdicts_of(library, workspace, places, deep=deep)
    if gone is not None:
        rows += gone_of(library, workspace, places, gone)
    return [row for row in rows if cohort in (None, row.cohort)]


def places_of(
    workspace: Workspace, tasks: Sequence[Task], wanted: Profile | None, cohort: str | None = None
) -> list[Place]:
    """Return what to report: each task in each of its profiles.

    Raises UsageError for a cohort that no task has in them.
    """
    places = [(task, p) for task in tasks for p in profiles_to_check(workspace, task, wanted)]
    profiles = list(dict.fromkeys(profile for _, profile in places))
    check_cohort(tasks, profiles, cohort, workspace.overrides)
    return places


def verdicts_of(
    library: Library, workspace: Workspace, places: Sequence[Place], *, deep: bool = False
) -> list[CheckRow]:
    """Return the verdicts of some tasks on what is stored; deep: as `check_stored` says."""
    rows = []
    for task, profile in places:
        try:
            reference = reference_of(library, task)
        except SpecError as error:
            # A paper's file must not keep the verdicts of the others back.
            rows += failed_rows(task, profile, error)
            continue
        rows += check_stored(workspace, task, profile, reference, deep=deep)
    return rows


def gone_of(
    library: Library, workspace: Workspace, places: Sequence[Place], selectors: Sequence[str]
) -> list[CheckRow]:
    """Return the claims that are gone from the tasks, or from a paper that was asked for whole."""
    ids = {task.id for task, _ in places}
    return [
        row
        for paper, profile in sorted({(task.paper, profile) for task, profile in places})
        for row in withdrawn_rows(workspace, library, paper, profile)
        if not selectors or paper in selectors or row.task in ids
    ]


def of_claims(rows: Iterable[CheckRow], asked: Mapping[str, Sequence[str]]) -> list[CheckRow]:
    """Return the verdicts of some tasks' claims, by task, and all of other tasks.

    Raises UsageError that names the nearest claim for one that its task does not have.
    """
    rows = list(rows)
    for task, names in asked.items():
        known = [row.claim for row in rows if row.task == task]
        for name in names:
            check_claim(task, name, known, f'harness.verdicts("{task}")')
    return [row for row in rows if row.task not in asked or row.claim in asked[row.task]]


def check_claim(task: str, name: str, known: Sequence[str], lists: str) -> None:
    """Raise UsageError for a claim that a task does not have; lists: what lists those it has."""
    if name not in known:
        raise UsageError(f"{task} has no claim {name!r}{nearest(name, known)} ({lists} lists them)")


def unit_of(library: Library, row: CheckRow) -> str:
    """Return the unit of a verdict's numbers, nothing for a claim that is gone."""
    task = library.tasks.get(row.task)
    claim = claim_of(task, row.claim) if task else None
    return claim.criterion.unit if claim else ""


def shown(library: Library, overrides: Overrides, row: CheckRow) -> Shown:
    """Return a verdict with its claim's statement, which names what stood in for what."""
    task = library.tasks.get(row.task)
    if task is None:
        return Shown(row=row, statement=row.statement)
    claim = claim_of(task, row.claim)
    labels = _labels(task, cast(Profile, row.profile), library.titles[task.id], overrides)
    if claim is None:
        last_words = labels.text(row.statement) if row.statement else ""
        deciding = f"{row.deciding} decides" if row.deciding else ""
        seed = task.table.seed_unit
        return Shown(row=row, statement=last_words, seed=seed, what_number=deciding)
    told = reading(row, claim.criterion.unit, claim.criterion.tolerance)
    return Shown(
        row=told.row,
        statement=labels.statement(claim),
        unit=told.unit,
        tolerance=told.tolerance,
        caveat=claim.scope.caveat,
        what_number=what_number(row, claim.criterion),
        stands_in=str(labels),
        seed=task.table.seed_unit,
    )


@functools.cache
def _labels(task: Task, profile: Profile, title: str, overrides: Overrides) -> Labels:
    """Return what stands in for what: a task's trials are walked once for all its claims."""
    return labels_of(task, profile, title, overrides)


def claim_of(task: Task, name: str) -> Claim | None:
    """Return a declared claim; None for one that was withdrawn."""
    return next((claim for claim in task.claims if claim.id == name), None)


def json_rows(
    library: Library, overrides: Overrides, rows: Iterable[CheckRow]
) -> list[dict[str, Any]]:
    """Return verdicts as `repro check --json` prints them.

    With what was overridden: a variant's must not be taken for the committed.
    """
    varied = {"overrides": dict(overrides)}
    return [
        row.to_json()
        | {"unit": unit_of(library, row), "statement": shown(library, overrides, row).statement}
        | varied
        for row in rows
    ]


def frame(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return such rows as a table, a line each; without any, with the names alone."""
    import pandas as pd

    names = [*CheckRow.__dataclass_fields__, "unit", "overrides"]
    return pd.DataFrame(list(rows), columns=names)
