"""The verb that compares verdicts: of commits, folders, the working tree."""

from __future__ import annotations

from typing import Annotated

import typer

from harness.commands.common import JsonOption, print_rows

Before = Annotated[
    str, typer.Argument(help="A commit, or a folder with results, as that of a variant.")
]
After = Annotated[str | None, typer.Argument(help="The same; the working tree by default.")]
ExitOption = Annotated[bool, typer.Option("--exit-code", help="Exit 1 where anything differs.")]


def diff(
    before: Before = "HEAD~1",
    after: After = None,
    exit_code: ExitOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compare verdicts: those that changed, numbers that moved, claims that ask something else."""
    from harness.publish.diff import compare, diff_text, verdicts_at
    from harness.store.workspace import find_results

    root = find_results().root
    found = compare(verdicts_at(root, before), verdicts_at(root, after))
    if as_json:
        print_rows(found, as_json=True, columns=[])
    else:
        typer.echo(diff_text(found))
    if exit_code and found:
        raise typer.Exit(1)
