"""The verb that compares verdicts: of commits, folders, variants, the working tree."""

from __future__ import annotations

from typing import Annotated

import typer

from harness.commands.common import JsonOption, asked_for, print_rows

Before = Annotated[
    str | None,
    typer.Argument(help="A commit, a folder with results, or a variant's name; HEAD~1 by default."),
]
After = Annotated[str | None, typer.Argument(help="The same; the working tree by default.")]
ExitOption = Annotated[bool, typer.Option("--exit-code", help="Exit 1 where anything differs.")]


def diff(
    before: Before = None,
    after: After = None,
    exit_code: ExitOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compare verdicts: those that changed, numbers that moved, claims that ask something else."""
    from harness.publish.diff import compare, diff_text

    asked = asked_for(None, reads=True)
    found = compare(asked.library, asked.workspace, before, after)
    if as_json:
        print_rows([each.to_json() for each in found], as_json=True, columns=[])
    else:
        typer.echo(diff_text(found))
    if exit_code and found:
        raise typer.Exit(1)
