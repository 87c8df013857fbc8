"""Verbs that tell verdicts: check decides anew, summary repeats what is stored."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated

import typer

from harness.commands.common import (
    CohortOption,
    ForceOption,
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
    say,
)
from harness.declare.profiles import PROFILES
from harness.registry import load_registry
from harness.store.workspace import COMMITTED_PROFILES, find_results

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

JUnitOption = Annotated[
    Path | None, typer.Option("--junit", help="Also write the verdicts here, as JUnit's XML.")
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
    junit: JUnitOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Decide every claim on the stored tables; exit 1 if a check fails or one errs."""
    from harness.publish import verdicts
    from harness.publish.report.check_text import check_text
    from harness.publish.report.junit import junit_xml
    from harness.store.out import write_out

    library = load_registry()
    tasks = chosen(library, selectors, kind)
    workspace = open_workspace(tasks, settings, seeds, find=find_results)
    wanted = parse_profile(profile) if profile else None
    gone = (selectors or []) if kind is None else None
    rows = verdicts.decided(library, workspace, tasks, wanted, cohort, gone=gone, deep=deep)
    tell = functools.partial(verdicts.shown, library, workspace.overrides)
    broken = library.broken_among(selectors or [])
    if junit is not None:
        write_out(junit, junit_xml(map(tell, rows), broken), force=force)
        say(f"wrote {junit}")
    if as_json:
        print_rows(verdicts.json_rows(library, workspace.overrides, rows), as_json=True, columns=[])
    else:
        # Who asks for one cohort wants its verdicts, whether they decide or not.
        everything = everything or cohort is not None
        text = check_text(rows, tell, everything=everything, brief=brief)
        typer.echo(headed(text, workspace.overrides))
    if broken or any(row.fails for row in rows):
        raise typer.Exit(1)


def summary(
    selectors: Selectors = None,
    settings: SetOption = None,
    seeds: SeedsOption = None,
    cohort: CohortOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count what the committed runs found, per paper, from the verdicts stored with them."""
    from harness.publish import verdicts
    from harness.publish.report.check_text import counts_text
    from harness.publish.stored import stored_rows
    from harness.store.trial import check_cohort
    from harness.store.result import is_stored

    library = load_registry()
    tasks = chosen(library, selectors)
    workspace = open_workspace(tasks, settings, seeds, find=find_results)
    profiles = PROFILES if workspace.overrides else COMMITTED_PROFILES
    check_cohort(tasks, profiles, cohort, workspace.overrides)
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
        print_rows(verdicts.json_rows(library, workspace.overrides, rows), as_json=True, columns=[])
        return
    found = counts_text(rows)
    runs = "These runs found:" if workspace.overrides else "The committed runs found:"
    none = f"No run is {'stored' if workspace.overrides else 'committed'}."
    typer.echo(headed(f"{runs}\n{found}" if found else none, workspace.overrides))
