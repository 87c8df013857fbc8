"""The verb that tells all of one task or claim: answers, what would decide, where to look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.commands.common import (
    CohortOption,
    JsonOption,
    SeedsOption,
    SetOption,
    headed,
    open_workspace,
    parse_profile,
    print_rows,
)
from harness.registry import Library, load_registry
from harness.store.workspace import find_results

if TYPE_CHECKING:  # what it imports would slow every verb down
    from harness.publish.show import View

ShowArgument = Annotated[
    str, typer.Argument(help="A task's id, or task:claim as repro check prints it.")
]
ShownProfile = Annotated[
    str | None, typer.Option("--profile", "-p", help="Scale; the largest that is stored.")
]


def mount(app: typer.Typer) -> None:
    """Add `show` to the command line."""
    app.command("show")(show)


def show(
    name: ShowArgument,
    profile: ShownProfile = None,
    settings: SetOption = None,
    seeds: SeedsOption = None,
    cohort: CohortOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell a task's answers, the worst first, or all of one claim, and where to look further."""
    from harness.publish.report.show_text import claim_text, task_text
    from harness.publish.show import largest_stored, view_of
    from harness.store.trial import check_cohort

    library = load_registry()
    task_id, _, claim = name.partition(":")
    task = library.one(task_id)
    workspace = open_workspace([task], settings, seeds, find=find_results)
    scale = parse_profile(profile) if profile else largest_stored(workspace, task)
    check_cohort([task], [scale], cohort, workspace.overrides)
    view = view_of(library, workspace, task, scale, cohort)
    if claim:
        view = view.only(claim)
    if as_json:
        print_rows(_rows(library, view), as_json=True, columns=[])
        return
    text = claim_text(view) if claim else task_text(view)
    typer.echo(headed(text, workspace.overrides))


def _rows(library: Library, view: View) -> list[dict[str, Any]]:
    """Return verdicts as `repro check --json` does, with what stands beside them."""
    from harness.publish.report.show_text import answer_text, commands
    from harness.publish.verdicts import json_rows

    beside = {
        "deviations": [{"id": each.id, "what": each.what} for each in view.deviations],
        "commands": commands(view),
    }
    return [
        row
        | {
            "answer": answer_text(each),
            "needed": each.needed,
            "where": each.claim.where if each.claim is not None else "",
            "declared": view.declared(row["claim"]),
        }
        | beside
        for each, row in zip(
            view.answers, json_rows(library, view.overrides, view.rows), strict=True
        )
    ]
