"""The verb that compares verdicts: of commits, folders, variants, exports, the working tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from harness.commands.common import (
    CohortOption,
    JsonOption,
    SeedsOption,
    SetOption,
    no_result,
    open_workspace,
    print_rows,
)
from harness.declare.profiles import PROFILES
from harness.errors import UsageError
from harness.registry import Library, load_registry
from harness.store.workspace import Workspace, find_results

if TYPE_CHECKING:  # what it imports would slow every verb down
    from harness.publish.compared.sides import Side

Before = Annotated[
    str | None,
    typer.Argument(
        help="A commit, a folder with results, a variant's name, or an export's file; HEAD~1 by"
        " default, the working tree before a variant."
    ),
]
After = Annotated[str | None, typer.Argument(help="The same; the working tree by default.")]
ExitOption = Annotated[bool, typer.Option("--exit-code", help="Exit 1 where anything differs.")]


def mount(app: typer.Typer) -> None:
    """Add `diff` to the command line."""
    app.command("diff")(diff)


def diff(
    before: Before = None,
    after: After = None,
    settings: SetOption = None,
    seeds: SeedsOption = None,
    cohort: CohortOption = None,
    exit_code: ExitOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compare verdicts: those that changed, numbers that moved, claims that ask something else.

    With --set or --seeds that variant is the second side, with --cohort both have its rows alone.
    """
    from harness.publish.compared.differences import compare, diff_text
    from harness.publish.compared.sides import side_by_side
    from harness.store.trial import check_cohort

    library = load_registry()
    tasks = library.select([])
    workspace = open_workspace(tasks, settings, seeds, find=find_results)
    check_cohort(tasks, PROFILES, cohort, workspace.overrides)
    sides = _sides(library, workspace, before, after)
    old, new = sides if cohort is None else [side.only(cohort) for side in sides]
    found = compare(*side_by_side(old, new))
    if as_json:
        print_rows([each.to_json() for each in found], as_json=True, columns=[])
    else:
        typer.echo(diff_text(found, old.name, new.name))
    if exit_code and found:
        raise typer.Exit(1)


def _sides(
    library: Library, workspace: Workspace, before: str | None, after: str | None
) -> tuple[Side, Side]:
    """Return what is compared with what; a workspace that is a variant is the second side."""
    from harness.publish.compared.sides import side_of, variant_side, working_tree
    from harness.store.variants import variant_of

    if not workspace.overrides:
        old = side_of(library, workspace, "HEAD~1" if before is None else before)
        if after is None:
            return old, working_tree(library, workspace, beside=old)
        return old, side_of(library, workspace, after)
    if after is not None:
        raise UsageError(f"--set and --seeds name the second side: leave {after} out")
    if (variant := variant_of(workspace)) is None:
        raise no_result(library, workspace.overrides)
    new = variant_side(library, variant)
    checkout = workspace.with_overrides({})
    if before is None:
        return working_tree(library, checkout, beside=new), new
    return side_of(library, checkout, before), new
