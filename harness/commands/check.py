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
    SeedsOption,
    Selectors,
    SetOption,
    chosen,
    headed,
    open_workspace,
    parse_profile,
    print_rows,
)
from harness.declare.overrides import Overrides
from harness.declare.profiles import PROFILES, Profile
from harness.declare.task import Task
from harness.errors import SpecError
from harness.registry import Library, load_registry
from harness.store.result import is_stored
from harness.store.workspace import COMMITTED_PROFILES, Workspace, find_results

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
    settings: SetOption = None,
    seeds: SeedsOption = None,
    cohort: CohortOption = None,
    deep: DeepOption = False,
    everything: AllOption = False,
    brief: BriefOption = False,
    as_json: JsonOption = False,
) -> None:
    """Decide every claim on the stored tables; exit 1 if a check fails or one errs."""
    library = load_registry()
    tasks = chosen(library, selectors, kind)
    workspace = open_workspace(tasks, settings, seeds, find=find_results)
    places = _places(workspace, tasks, parse_profile(profile) if profile else None, cohort)
    rows = _check_rows(library, workspace, places, deep=deep)
    if kind is None:
        rows += _withdrawn_rows(library, workspace, places, selectors or [])
    if cohort is not None:
        rows = [row for row in rows if row.cohort == cohort]
    tell = functools.partial(_shown, library, workspace.overrides)
    if as_json:
        _print_json(rows, workspace, tell)
    else:
        from harness.publish.report.check_text import check_text

        # Who asks for one cohort wants its verdicts, whether they decide or not.
        everything = everything or cohort is not None
        text = check_text(rows, tell, everything=everything, brief=brief)
        typer.echo(headed(text, workspace.overrides))
    if library.broken_among(selectors or []) or any(row.fails for row in rows):
        raise typer.Exit(1)


def summary(
    selectors: Selectors = None,
    settings: SetOption = None,
    seeds: SeedsOption = None,
    cohort: CohortOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count what the committed runs found, per paper, from the verdicts stored with them."""
    from harness.publish.report.check_text import counts_text
    from harness.publish.stored import stored_rows

    library = load_registry()
    tasks = chosen(library, selectors)
    workspace = open_workspace(tasks, settings, seeds, find=find_results)
    profiles = PROFILES if workspace.overrides else COMMITTED_PROFILES
    _check_cohort(tasks, profiles, cohort, workspace.overrides)
    places = [(t, p) for t in tasks for p in profiles]
    stored = [(t, p) for t, p in places if is_stored(workspace, t, p)]
    if not workspace.overrides:
        # What a paper has in a committed profile is told whole.
        papers = {(task.paper, profile) for task, profile in stored}
        stored = [(t, p) for t, p in places if (t.paper, p) in papers]
    rows = [
        row
        for task, profile in stored
        for row in stored_rows(workspace, task, profile)
        if cohort is None or row.cohort == cohort
    ]
    if as_json:
        _print_json(rows, workspace, functools.partial(_shown, library, workspace.overrides))
        return
    found = counts_text(rows)
    runs = "These runs found:" if workspace.overrides else "The committed runs found:"
    none = f"No run is {'stored' if workspace.overrides else 'committed'}."
    typer.echo(headed(f"{runs}\n{found}" if found else none, workspace.overrides))


def _print_json(
    rows: Sequence[CheckRow], workspace: Workspace, tell: Callable[[CheckRow], Shown]
) -> None:
    """Print verdicts with what was overridden: a variant's must not be taken for the committed."""
    varied = {"overrides": dict(workspace.overrides)}
    told = [row.to_json() | {"statement": tell(row).statement} | varied for row in rows]
    print_rows(told, as_json=True, columns=[])


def _shown(library: Library, overrides: Overrides, row: CheckRow) -> Shown:
    """Return a verdict with its claim's statement, which names what stood in for what."""
    from harness.publish.report.check_text import Shown

    task = library.tasks.get(row.task)
    claim = next((c for c in task.claims if c.id == row.claim), None) if task else None
    if task is None:
        return Shown(row=row, statement=row.statement)
    labels = _labels(task, cast(Profile, row.profile), library.titles[task.id], overrides)
    if claim is None:
        last_words = labels.text(row.statement) if row.statement else ""
        return Shown(row=row, statement=last_words, seed=task.table.seed_unit)
    return Shown(
        row=row,
        statement=labels.statement(claim),
        unit=claim.criterion.unit,
        tolerance=claim.criterion.tolerance,
        caveat=claim.scope.caveat,
        stands_in=str(labels),
        seed=task.table.seed_unit,
    )


@functools.cache
def _labels(task: Task, profile: Profile, title: str, overrides: Overrides) -> Labels:
    """Return what stands in for what: a task's trials are walked once for all its claims."""
    from harness.publish.labels import labels_of

    return labels_of(task, profile, title, overrides)


def _places(
    workspace: Workspace, tasks: Sequence[Task], wanted: Profile | None, cohort: str | None
) -> list[tuple[Task, Profile]]:
    """Return what to report: each task in each of its profiles.

    Raises UsageError for a cohort that no task has in them.
    """
    from harness.publish.judge import profiles_to_check

    places = [(task, p) for task in tasks for p in profiles_to_check(workspace, task, wanted)]
    profiles = list(dict.fromkeys(profile for _, profile in places))
    _check_cohort(tasks, profiles, cohort, workspace.overrides)
    return places


def _check_cohort(
    tasks: Sequence[Task], profiles: Sequence[Profile], cohort: str | None, overrides: Overrides
) -> None:
    """Raise UsageError for a cohort that no task has in any of some profiles."""
    from harness.run.trial import cohorts_of, cohorts_with_task

    have = [p for t in tasks for p in profiles if cohort in cohorts_of(t, p, overrides)]
    if not have and profiles:
        cohorts_with_task(tasks, profiles[0], cohort, overrides)


def _check_rows(
    library: Library,
    workspace: Workspace,
    places: Sequence[tuple[Task, Profile]],
    *,
    deep: bool,
) -> list[CheckRow]:
    """Return the verdicts of some tasks on what is stored."""
    from harness.publish.judge import check_stored, failed_rows
    from harness.publish.refresh import reference_of

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


def _withdrawn_rows(
    library: Library,
    workspace: Workspace,
    places: Sequence[tuple[Task, Profile]],
    selectors: Sequence[str],
) -> list[CheckRow]:
    """Return the claims that are gone from the tasks, or from a paper that was asked for whole."""
    from harness.publish.withdrawn import withdrawn_rows

    ids = {task.id for task, _ in places}
    return [
        row
        for paper, profile in sorted({(task.paper, profile) for task, profile in places})
        for row in withdrawn_rows(workspace, library, paper, profile)
        if not selectors or paper in selectors or row.task in ids
    ]
