"""The verb that tells all of one task or claim: answers, what would decide, where to look."""

from __future__ import annotations

from typing import Annotated

import typer

from harness.commands.common import (
    JsonOption,
    SeedsOption,
    SetOption,
    StoredProfile,
    asked_for,
    headed,
    parse_profile,
    print_rows,
)

ShowArgument = Annotated[
    str, typer.Argument(help="A task's id, or task:claim as repro check prints it.")
]


def show(
    name: ShowArgument,
    profile: StoredProfile = None,
    settings: SetOption = None,
    seeds: SeedsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell a task's answers, the worst first, or all of one claim, and where to look further."""
    from harness.publish.report.show_text import claim_text, task_text
    from harness.publish.show import json_of, largest_stored, view_of

    task_id, _, claim = name.partition(":")
    asked = asked_for([task_id], None, "smoke", settings, seeds, reads=True)
    task = asked.library.one(task_id)
    scale = parse_profile(profile) if profile else largest_stored(asked.workspace, task)
    view = view_of(asked.library, asked.workspace, task, scale)
    if claim:
        view = view.only(claim)
    if as_json:
        print_rows(json_of(view), as_json=True, columns=[])
        return
    typer.echo(headed(claim_text(view) if claim else task_text(view), asked.overrides))
