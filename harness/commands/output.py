"""Verbs that make what a paper or a reader takes away: plot, table, report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from harness.commands.common import ForceOption, Selectors, parse_profile, say
from harness.declare.profiles import PROFILES
from harness.declare.task import Task
from harness.errors import UsageError, nearest
from harness.registry import Library, load_registry
from harness.store.out import write_out
from harness.store.workspace import find_workspace

if TYPE_CHECKING:  # what it imports would slow every verb down
    from harness.store.result import TaskResult

StoredProfile = Annotated[
    str | None, typer.Option("--profile", "-p", help="Scale; the largest that is stored.")
]
TaskArgument = Annotated[str, typer.Argument(help="A task's id, such as supar/fig06.")]
OutOption = Annotated[Path | None, typer.Option("--out", help="File; stdout by default.")]
FigureOption = Annotated[
    Path | None, typer.Option("--out", help="File; PAPER-ITEM.PROFILE.FORMAT here by default.")
]


def mount(app: typer.Typer) -> None:
    """Add the output verbs to the command line."""
    app.command("plot")(plot)
    app.command("figures")(figures)
    app.command("table")(table)
    app.command("report")(report)


def plot(
    task_id: TaskArgument,
    profile: StoredProfile = None,
    fmt: Annotated[str, typer.Option("--format", help="svg, png, pdf or pgf.")] = "svg",
    width: Annotated[str, typer.Option(help="single or double column.")] = "double",
    out: FigureOption = None,
    force: ForceOption = False,
) -> None:
    """Draw a task's figure from its stored table; the same table gives the same bytes."""
    from harness.publish.figures import Format, draw
    from harness.publish.refresh import reference_of
    from harness.publish.style import Width

    library, task, result = _stored(task_id, profile)
    scale = parse_profile(result.meta.profile)
    if task.figure is None:
        raise UsageError(f"{task.id} has no figure: use repro table {task.id}")
    image = draw(
        task,
        table=result.table,
        reference=reference_of(library, task),
        profile=scale,
        width=_one_of(width, get_args(Width), "width"),
        fmt=_one_of(fmt, get_args(Format), "format"),
    )
    target = out or Path(f"{task.id.replace('/', '-')}.{scale}.{fmt}")
    write_out(target, image, force=force)
    say(f"wrote {target} ({len(image)} bytes)")


def figures(selectors: Selectors = None) -> None:
    """Draw the figures of all stored tables again, in their places."""
    from harness.publish.refresh import draw_stored

    library, workspace = load_registry(), find_workspace()
    for task in library.select(selectors or []):
        for path in draw_stored(workspace, library, task):
            say(f"wrote {path}")


def table(
    task_id: TaskArgument,
    profile: StoredProfile = None,
    fmt: Annotated[str, typer.Option("--format", help="text, markdown, latex or csv.")] = "text",
    long: Annotated[
        bool, typer.Option("--long", help="A line for each row of the CSV, seeds aggregated.")
    ] = False,
    out: OutOption = None,
    force: ForceOption = False,
) -> None:
    """Print a task's table as the paper prints it, its values beside ours in the same cells."""
    from harness.publish.refresh import reference_of
    from harness.publish.report.paper_table import TABLE_FORMATS, table_as

    library, task, result = _stored(task_id, profile)
    text = table_as(
        _one_of(fmt, TABLE_FORMATS, "format"),
        task,
        result.table,
        reference_of(library, task),
        title=library.titles[task.id],
        profile=parse_profile(result.meta.profile),
        long=long,
    )
    if out is None:
        typer.echo(text, nl=not text.endswith("\n"))
        return
    write_out(out, text.encode(), force=force)
    say(f"wrote {out}")


def report(
    site_only: Annotated[
        bool, typer.Option("--site-only", help="Leave RESULTS.md and the READMEs as they are.")
    ] = False,
) -> None:
    """Write the static report to site/, and RESULTS.md from the committed profiles."""
    from harness.publish.report import build_report, build_results
    from harness.store.pair import finish_pairs

    library, workspace = load_registry(), find_workspace()
    finish_pairs(workspace.root / "results")
    if not site_only:
        say(f"wrote {build_results(workspace, library)}")
    say(f"wrote {build_report(workspace, library)}: open it in a browser")


def _stored(task_id: str, profile: str | None) -> tuple[Library, Task, TaskResult]:
    from harness.store.result import load_result

    library, workspace = load_registry(), find_workspace()
    selected = library.select([task_id])
    if len(selected) != 1:
        raise UsageError(f"{task_id!r} names {len(selected)} tasks: name one")
    wanted = [parse_profile(profile)] if profile else reversed(PROFILES)
    results = (load_result(workspace, selected[0], scale) for scale in wanted)
    result = next((found for found in results if found is not None), None)
    if result is None:
        raise UsageError(
            f"{task_id} has no result{f' at {profile}' if profile else ''}: repro run {task_id}"
            f" --profile {profile or 'smoke'}"
        )
    return library, selected[0], result


def _one_of(name: str, known: tuple[Any, ...], what: str) -> Any:
    if name not in known:
        raise UsageError(
            f"no {what} is called {name!r}{nearest(name, known)} (there are {', '.join(known)})"
        )
    return name
