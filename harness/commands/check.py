"""Verbs that tell verdicts: check decides anew, summary repeats what is stored."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, cast

import typer

from harness.commands.common import (
    CohortOption,
    JsonOption,
    KindOption,
    Selectors,
    parse_kind,
    parse_profile,
    print_rows,
    say,
)
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.registry import Library, load_registry
from harness.store.result import csv_path
from harness.store.workspace import COMMITTED_PROFILES, find_results

if TYPE_CHECKING:
    from harness.publish.check_row import CheckRow
    from harness.publish.labels import Labels
    from harness.publish.report.check_text import Shown

CheckedProfile = Annotated[
    str | None,
    typer.Option("--profile", "-p", help="One scale; by default all committed ones, else smoke."),
]
DeepOption = Annotated[
    bool, typer.Option("--deep", help="Also build tables and verdicts anew from records.")
]
AllOption = Annotated[
    bool, typer.Option("--all", help="Also what holds, was not run, or decides nothing.")
]
BriefOption = Annotated[
    bool, typer.Option("--brief", help="Only counts per paper, and what fails.")
]


def mount(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.command("check")(check)
    app.command("summary")(summary)


def check(
    selectors: Selectors = None,
    kind: KindOption = None,
    profile: CheckedProfile = None,
    cohort: CohortOption = None,
    deep: DeepOption = False,
    everything: AllOption = False,
    brief: BriefOption = False,
    as_json: JsonOption = False,
) -> None:
    """Decide every claim on the stored tables; exit 1 if a check fails or one errs."""
    library = load_registry()
    tasks = library.select(selectors or [], parse_kind(kind))
    wanted = parse_profile(profile) if profile else None
    rows = _check_rows(library, tasks, wanted, deep=deep)
    if kind is None:
        rows += _withdrawn_rows(library, tasks, wanted, selectors or [])
    if cohort is not None:
        rows = [row for row in rows if row.cohort == cohort]
    tell = functools.partial(_shown, library)
    if as_json:
        _print_json(rows, tell)
    else:
        from harness.publish.report.check_text import check_text

        # Who asks for one cohort wants its verdicts, whether they decide or not.
        everything = everything or cohort is not None
        typer.echo(check_text(rows, tell, everything=everything, brief=brief))
    papers = {task.paper for task in tasks}
    broken = [b for b in library.broken.values() if not selectors or b.id.split("/")[0] in papers]
    for item in broken:
        say(f"broken: {item.id} ({item.file}): {item.reason}")
    if broken or any(row.fails for row in rows):
        raise typer.Exit(1)


def summary(selectors: Selectors = None, as_json: JsonOption = False) -> None:
    """Count what the committed runs found, per paper, from the verdicts stored with them."""
    from harness.publish.report.check_text import counts_text
    from harness.publish.stored import stored_rows

    library, workspace = load_registry(), find_results()
    tasks = library.select(selectors or [])
    committed = {
        (task.paper, profile)
        for task in tasks
        for profile in COMMITTED_PROFILES
        if csv_path(workspace, task, profile).is_file()
    }
    rows = [
        row
        for task in tasks
        for profile in COMMITTED_PROFILES
        if (task.paper, profile) in committed
        for row in stored_rows(workspace, task, profile)
    ]
    if as_json:
        _print_json(rows, functools.partial(_shown, library))
        return
    found = counts_text(rows)
    typer.echo(f"The committed runs found:\n{found}" if found else "No run is committed.")


def _print_json(rows: Sequence[CheckRow], tell: Callable[[CheckRow], Shown]) -> None:
    told = [row.to_json() | {"statement": tell(row).statement} for row in rows]
    print_rows(told, as_json=True, columns=[])


def _shown(library: Library, row: CheckRow) -> Shown:
    """Return a verdict with its claim's statement, which names what stood in for what."""
    from harness.publish.report.check_text import Shown

    task = library.tasks.get(row.task)
    claim = next((c for c in task.claims if c.id == row.claim), None) if task else None
    if task is None:
        return Shown(row=row, statement=row.statement)
    labels = _labels(task, cast(Profile, row.profile), library.titles[task.id])
    if claim is None:
        last_words = labels.text(row.statement) if row.statement else ""
        return Shown(row=row, statement=last_words, seed=task.table.seed_unit)
    return Shown(
        row=row,
        statement=labels.statement(claim),
        unit=claim.criterion.unit,
        tolerance=claim.criterion.tolerance,
        plain=claim.statement,
        stands_in=str(labels),
        seed=task.table.seed_unit,
    )


@functools.cache
def _labels(task: Task, profile: Profile, title: str) -> Labels:
    """Return what stands in for what: a task's trials are walked once for all its claims."""
    from harness.publish.labels import labels_of

    return labels_of(task, profile, title)


def _check_rows(
    library: Library, tasks: Sequence[Task], wanted: Profile | None, *, deep: bool
) -> list[CheckRow]:
    """Return the verdicts of some tasks on what is stored."""
    from harness.publish.judge import check_stored, profiles_to_check
    from harness.publish.refresh import reference_of

    workspace, rows = find_results(), []
    for task in tasks:
        reference = reference_of(library, task)
        for scale in profiles_to_check(workspace, task, wanted):
            rows.extend(check_stored(workspace, task, scale, reference, deep=deep))
    return rows


def _withdrawn_rows(
    library: Library, tasks: Sequence[Task], wanted: Profile | None, selectors: Sequence[str]
) -> list[CheckRow]:
    """Return the claims that are gone from the tasks, or from a paper that was asked for whole."""
    from harness.publish.judge import profiles_to_check
    from harness.publish.withdrawn import withdrawn_rows

    workspace, ids = find_results(), {task.id for task in tasks}
    places = {(t.paper, p) for t in tasks for p in profiles_to_check(workspace, t, wanted)}
    return [
        row
        for paper, profile in sorted(places)
        for row in withdrawn_rows(workspace, library, paper, profile)
        if not selectors or paper in selectors or row.task in ids
    ]
