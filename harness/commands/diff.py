"""The verb that compares verdicts: of commits, folders, variants, exports, the working tree."""

from __future__ import annotations

from typing import Annotated

import typer

from harness.commands.common import JsonOption, print_rows
from harness.registry import load_registry
from harness.store.workspace import find_results

Before = Annotated[
    str,
    typer.Argument(help="A commit, a folder with results, a variant's name, or an export's file."),
]
After = Annotated[str | None, typer.Argument(help="The same; the working tree by default.")]
ExitOption = Annotated[bool, typer.Option("--exit-code", help="Exit 1 where anything differs.")]


def mount(app: typer.Typer) -> None:
    """Add `diff` to the command line."""
    app.command("diff")(diff)


def diff(
    before: Before = "HEAD~1",
    after: After = None,
    exit_code: ExitOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compare verdicts: those that changed, numbers that moved, claims that ask something else."""
    from harness.publish.compared.differences import compare, diff_text
    from harness.publish.compared.sides import side_by_side, side_of, working_tree

    library, workspace = load_registry(), find_results()
    old = side_of(library, workspace, before)
    if after is None:
        new = working_tree(library, workspace, beside=old)
    else:
        new = side_of(library, workspace, after)
    found = compare(*side_by_side(old, new))
    if as_json:
        print_rows([each.to_json() for each in found], as_json=True, columns=[])
    else:
        typer.echo(diff_text(found, old.name, new.name))
    if exit_code and found:
        raise typer.Exit(1)
