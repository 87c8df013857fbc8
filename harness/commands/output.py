"""Verbs that make what a paper takes away: plot, figures, table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from harness.commands.common import (
    CohortOption,
    ForceOption,
    SeedsOption,
    Selectors,
    SetOption,
    apart,
    chosen,
    command_words,
    one_of,
    open_workspace,
    parse_profile,
    say,
)
from harness.declare.overrides import Overrides
from harness.declare.profiles import PROFILES, Profile
from harness.declare.task import Task
from harness.errors import UsageError
from harness.publish.not_run import NoResultError
from harness.registry import Library, load_registry
from harness.store.workspace import COMMITTED_PROFILES, find_results

if TYPE_CHECKING:  # what it imports would slow every verb down
    import pandas as pd

    from harness.publish.looks import Options

StoredProfile = Annotated[
    str | None, typer.Option("--profile", "-p", help="Scale; the largest that is stored.")
]
TaskArgument = Annotated[str, typer.Argument(help="A task's id, such as supar/fig06.")]
OutOption = Annotated[Path | None, typer.Option("--out", help="File; stdout by default.")]
FigureOption = Annotated[
    Path | None, typer.Option("--out", help="File; PAPER-ITEM.PROFILE.FORMAT here by default.")
]


WidthOption = Annotated[str, typer.Option(help="single, double, or such as 3.3in or 8.4cm.")]
HeightOption = Annotated[str, typer.Option(help="Such as 2.2in; by default as panels need.")]
OursOption = Annotated[bool, typer.Option("--ours-only", help="Nothing read off the paper.")]
NoStampOption = Annotated[bool, typer.Option("--no-stamp", help="Foot: only what stood in.")]
StyleOption = Annotated[str, typer.Option(help="Matplotlib settings over ours: FILE.mplstyle.")]
PaletteOption = Annotated[str, typer.Option(help="A colour map of matplotlib.")]
FontOption = Annotated[str, typer.Option(help="An installed font.")]


def mount(app: typer.Typer) -> None:
    """Add the output verbs to the command line."""
    app.command("plot")(plot)
    app.command("figures")(figures)
    app.command("table")(table)


def plot(
    task_id: TaskArgument,
    profile: StoredProfile = None,
    settings: SetOption = None,
    seeds: SeedsOption = None,
    cohort: CohortOption = None,
    fmt: Annotated[
        str, typer.Option("--format", help="svg, png, pdf or pgf; by --out, else svg.")
    ] = "",
    width: WidthOption = "double",
    height: HeightOption = "",
    ours_only: OursOption = False,
    no_stamp: NoStampOption = False,
    style: StyleOption = "",
    palette: PaletteOption = "",
    font: FontOption = "",
    out: FigureOption = None,
    force: ForceOption = False,
) -> None:
    """Draw a task's figure from its stored table; the same table gives the same bytes."""
    look: Options = {
        "width": width, "height": height, "ours_only": ours_only, "stamp": not no_stamp,
        "style": style, "palette": palette, "font": font,
    }  # fmt: skip
    fmt = _format_of(fmt, out)
    found = _stored(task_id, profile, settings, seeds, cohort)
    if found.task.figure is None:
        raise UsageError(f"{found.task.id} has no figure: use repro table {found.task.id}")
    image = _image(found, fmt, apart(found.overrides, cohort), look)
    words = (found.task.id.replace("/", "-"), found.profile, found.overrides.name, cohort, fmt)
    target = out or Path(".".join(filter(None, words)))
    _write(target, image, force=force)
    say(f"wrote {target} ({len(image)} bytes)")


def _format_of(fmt: str, out: Path | None) -> str:
    """Return a figure's format: as asked for, or by the name of its file."""
    from harness.publish.figures import Format

    named = out.suffix.removeprefix(".").lower() if out else ""
    known: tuple[str, ...] = get_args(Format)
    if not fmt:
        return str(one_of(named or "svg", known, "format"))
    if named in known and named != fmt:
        raise UsageError(f"--out {out} names another format than --format {fmt}: leave one out")
    return fmt


def _image(found: _Stored, fmt: str, aside: str, look: Options) -> bytes:
    from harness.publish.figures import Format, draw
    from harness.publish.refresh import reference_of, stands_in

    return draw(
        found.task,
        table=found.table,
        reference=reference_of(found.library, found.task),
        profile=found.profile,
        fmt=one_of(fmt, get_args(Format), "format"),
        stands_in=stands_in(found.library, found.task, found.profile, found.overrides),
        aside=aside,
        **look,
    )


def figures(
    selectors: Selectors = None,
    settings: SetOption = None,
    seeds: SeedsOption = None,
    cohort: CohortOption = None,
) -> None:
    """Draw the figures of all stored tables again, in their places.

    Those of one cohort go to a folder of its own: what is committed shows the first.
    """
    from harness.publish.refresh import draw_stored
    from harness.store.trial import check_cohort

    library = load_registry()
    tasks = chosen(library, selectors)
    workspace = open_workspace(tasks, settings, seeds, find=find_results)
    check_cohort(tasks, COMMITTED_PROFILES, cohort, workspace.overrides)
    for task in tasks:
        for path in draw_stored(workspace, library, task, cohort):
            say(f"wrote {path}")


def _write(target: Path, data: bytes, *, force: bool) -> None:
    from harness.store.out import write_out

    write_out(target, data, force=force)


def table(
    task_id: TaskArgument,
    profile: StoredProfile = None,
    settings: SetOption = None,
    seeds: SeedsOption = None,
    cohort: CohortOption = None,
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

    try:
        found = _stored(task_id, profile, settings, seeds, cohort)
        text = table_as(
            one_of(fmt, TABLE_FORMATS, "format"),
            found.task,
            found.table,
            reference_of(found.library, found.task),
            title=found.library.titles[found.task.id],
            profile=found.profile,
            long=long,
            overrides=found.overrides,
            aside=apart(found.overrides, cohort),
        )
    except NoResultError as missing:
        text = "" if long else missing.paper_alone(one_of(fmt, TABLE_FORMATS, "format"))
        if not text:
            raise
        say(f"{missing}")
    if out is None:
        typer.echo(text, nl=not text.endswith("\n"))
        return
    _write(out, text.encode(), force=force)
    say(f"wrote {out}")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Stored:
    """A task's stored table, and what it is of."""

    library: Library
    task: Task
    profile: Profile
    overrides: Overrides
    table: pd.DataFrame


def _stored(
    task_id: str,
    profile: str | None,
    settings: Sequence[str] | None,
    seeds: int | None,
    cohort: str | None,
) -> _Stored:
    from harness.run.awaited import run_command
    from harness.store.trial import cohorts_with_task
    from harness.store.result import load_result

    library = load_registry()
    selected = chosen(library, [task_id])
    if len(selected) != 1:
        raise UsageError(f"{task_id!r} names {len(selected)} tasks: name one")
    (task,) = selected
    workspace = open_workspace(selected, settings, seeds, find=find_results)
    wanted = [parse_profile(profile)] if profile else PROFILES[::-1]
    results = ((scale, load_result(workspace, task, scale)) for scale in wanted)
    scale, result = next(((s, r) for s, r in results if r is not None), (None, None))
    if scale is None or result is None:
        where = f" at {profile}" if profile else ""
        whose = f" of the {workspace.overrides.label}" if workspace.overrides else ""
        command = run_command(task, wanted[0] if profile else "smoke", workspace.overrides)
        message = f"{task.id} has no result{where}{whose}: {command}"
        raise NoResultError(message, library, task)
    cohorts_with_task(selected, scale, cohort, workspace.overrides)
    if cohort is not None and cohort not in result.tables:
        words = command_words([task.id], None, scale, workspace.overrides, cohort)
        raise UsageError(f"{task.id} has no result of {cohort}: repro run {words}")
    return _Stored(
        library=library,
        task=task,
        profile=scale,
        overrides=workspace.overrides,
        table=result.table if cohort is None else result.tables[cohort],
    )
