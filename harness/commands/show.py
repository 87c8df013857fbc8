"""The verb that tells all of one task or claim: verdicts, deviations, where to look."""

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
    print_rows,
)
from harness.declare.profiles import parse_profile

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
    """Tell a task's verdicts, the worst first, or all of one claim, and where to look further."""
    from harness.publish.report.terminal import claim_text, task_text, view_of
    from harness.publish.verdicts import json_rows

    task_id, _, claim = name.partition(":")
    asked = asked_for([task_id], "smoke", settings, seeds, reads=True)
    task = asked.library.one(task_id)
    scale = parse_profile(profile) if profile else None
    view = view_of(asked.library, asked.workspace, task, scale)
    if claim:
        view = view.only(claim)
    if as_json:
        beside = {"deviations": [{"id": each.id, "what": each.what} for each in view.deviations]}
        rows = [
            row | beside | {"declared": view.declared}
            for row in json_rows(view.rows, asked.overrides)
        ]
        return print_rows(rows, as_json=True, columns=[])
    typer.echo(headed(claim_text(view) if claim else task_text(view), asked.overrides))
