"""The verb that tells verdicts."""

from __future__ import annotations

from typing import Annotated

import typer

from harness.commands.common import (
    JsonOption,
    SeedsOption,
    Selectors,
    SetOption,
    asked_for,
    broken_said,
    headed,
    print_rows,
)
from harness.declare.profiles import parse_profile

CheckedProfile = Annotated[
    str | None,
    typer.Option("--profile", "-p", help="One scale; by default all committed ones, else smoke."),
]
DeepOption = Annotated[
    bool, typer.Option("--deep", help="Also build tables and verdicts anew from records.")
]
AllOption = Annotated[bool, typer.Option("--all", help="Also what holds, or was not tested.")]
BriefOption = Annotated[
    bool, typer.Option("--brief", help="Only counts per paper, and what fails.")
]


def check(
    selectors: Selectors = None,
    profile: CheckedProfile = None,
    settings: SetOption = None,
    seeds: SeedsOption = None,
    deep: DeepOption = False,
    everything: AllOption = False,
    brief: BriefOption = False,
    as_json: JsonOption = False,
) -> None:
    """Tell the verdicts of every check and claim; exit 1 if a check fails or one errs."""
    from harness.publish.report.terminal import check_text
    from harness.publish.verdicts import json_rows, verdicts_of

    asked = asked_for(selectors, "smoke", settings, seeds, reads=True)
    scale = parse_profile(profile) if profile else None
    rows = verdicts_of(asked.workspace, asked.library, asked.tasks, scale, deep=deep)
    if as_json:
        print_rows(json_rows(rows, asked.overrides), as_json=True, columns=[])
    elif asked.tasks and not any(task.claims for task in asked.tasks):
        typer.echo("There are no claims to check: repro table TASK --profile cpu prints a result.")
    else:
        typer.echo(headed(check_text(rows, everything=everything, brief=brief), asked.overrides))
    if broken_said or any(row.fails for row in rows):
        raise typer.Exit(1)
