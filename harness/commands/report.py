"""The verb that writes pages: of what is committed, or of a variant or cohort alone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

import typer

from harness.commands.common import (
    CohortOption,
    SeedsOption,
    SetOption,
    chosen,
    no_result,
    open_workspace,
    say,
    say_broken,
)
from harness.declare.cohorts import FIRST
from harness.declare.profiles import PROFILES
from harness.declare.task import Task
from harness.errors import DataError
from harness.registry import Library, load_registry
from harness.store.workspace import Workspace, find_results

SiteOption = Annotated[
    bool, typer.Option("--site-only", help="Leave RESULTS.md and the READMEs as they are.")
]


def mount(app: typer.Typer) -> None:
    """Add `report` to the command line."""
    app.command("report")(report)


def report(
    site_only: SiteOption = False,
    settings: SetOption = None,
    seeds: SeedsOption = None,
    cohort: CohortOption = None,
) -> None:
    """Write the static report to site/, and RESULTS.md from the committed profiles.

    With --set, --seeds or --cohort only a site of that variant or cohort, below runs/output/.
    """
    from harness.publish.report import build_report, build_results
    from harness.publish.report.load import load_papers, problems_of
    from harness.store.trial import check_cohort
    from harness.store.pair import finish_pairs

    library = load_registry()
    tasks = chosen(library, None)
    workspace = open_workspace(tasks, settings, seeds, find=find_results)
    check_cohort(tasks, PROFILES, cohort, workspace.overrides)
    if workspace.overrides or cohort is not None:
        return _report_apart(library, workspace, tasks, cohort)
    for name, problem in problems_of(workspace, library).items():
        say_broken(f"{name}: {problem}")
    finish_pairs(workspace.root / "results")
    papers = load_papers(workspace, library, PROFILES)
    if not site_only:
        say(f"wrote {build_results(workspace, library, papers)}")
    say(f"wrote {build_report(workspace, papers)}: open it in a browser")


def _report_apart(
    library: Library, workspace: Workspace, tasks: Sequence[Task], cohort: str | None
) -> None:
    """Write the site of a variant or cohort. Raises UsageError where it has no result."""
    from harness.publish.refresh import draw_stored
    from harness.publish.report import build_report
    from harness.publish.report.apart import has_run, run_of_it
    from harness.publish.report.load import load_papers, problems_of

    shown = library.only([task for task in tasks if has_run(workspace, task, cohort)])
    # A run draws the first cohort, and a variant has no other.
    for task in shown.tasks.values() if cohort not in (None, FIRST) else ():
        with suppress(DataError):  # told on the task's page
            draw_stored(workspace, library, task, cohort)
    papers = run_of_it(workspace, load_papers(workspace, shown, PROFILES), cohort)
    for name, problem in problems_of(workspace, shown).items():
        say_broken(f"{name}: {problem}")
    if not papers:
        raise no_result(library, workspace.overrides, cohort)
    say(f"wrote {build_report(workspace, papers, cohort)}: open it in a browser")
