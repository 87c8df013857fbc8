"""Verbs that make what a reader takes away: plot, figures, table, report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from harness.commands.common import (
    ForceOption,
    SeedsOption,
    Selectors,
    SetOption,
    StoredProfile,
    asked_for,
    say,
    say_broken,
)
from harness.declare.profiles import parse_profile
from harness.errors import UsageError, one_of

if TYPE_CHECKING:  # what they import would slow every verb down
    from harness.publish.figures import Format
    from harness.publish.looks import Options
    from harness.publish.report.paper_table import TableFormat
    from harness.publish.stored import Stored

TaskArgument = Annotated[str, typer.Argument(help="A task's id, such as supar/fig06.")]
OutOption = Annotated[Path | None, typer.Option("--out", help="File; stdout by default.")]
FigureOption = Annotated[
    Path | None, typer.Option("--out", help="File; PAPER-ITEM.PROFILE.FORMAT here by default.")
]


WidthOption = Annotated[str, typer.Option(help="single, double, or such as 3.3in or 8.4cm.")]
HeightOption = Annotated[str, typer.Option(help="Such as 2.2in; by default as panels need.")]
OursOption = Annotated[bool, typer.Option("--ours-only", help="Nothing read off the paper.")]
NoStampOption = Annotated[bool, typer.Option("--no-stamp", help="Foot: substitute data alone.")]
StyleOption = Annotated[str, typer.Option(help="Matplotlib settings over ours: FILE.mplstyle.")]
PaletteOption = Annotated[str, typer.Option(help="A palette or colour map of seaborn.")]
FontOption = Annotated[str, typer.Option(help="An installed font.")]
SiteOption = Annotated[
    bool, typer.Option("--site-only", help="Leave RESULTS.md and the READMEs as they are.")
]


def plot(
    task_id: TaskArgument,
    profile: StoredProfile = None,
    settings: SetOption = None,
    seeds: SeedsOption = None,
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
    from harness.store.out import write_out

    kind = _format_of(fmt, out)
    found = _stored(task_id, profile, settings, seeds)
    if found.task.figure is None:
        raise UsageError(f"{found.task.id} has no figure: use repro table {found.task.id}")
    image = found.image(kind, **look)
    words = (found.task.id.replace("/", "-"), found.profile, found.overrides.name, kind)
    target = out or Path(".".join(filter(None, words)))
    write_out(target, image, force=force)
    say(f"wrote {target} ({len(image)} bytes)")


def _format_of(fmt: str, out: Path | None) -> Format:
    """Return a figure's format: as asked for, or by the name of its file."""
    from harness.publish.figures import Format

    named = out.suffix.removeprefix(".").lower() if out else ""
    known: tuple[Format, ...] = get_args(Format)
    if fmt and named in known and named != fmt:
        raise UsageError(f"--out {out} names another format than --format {fmt}: leave one out")
    found: Format = one_of(fmt or named or "svg", known, "format")
    return found


def figures(selectors: Selectors = None) -> None:
    """Draw the figures of all stored tables again, in their places."""
    from harness.publish.refresh import draw_stored

    asked = asked_for(selectors, reads=True)
    for task in asked.tasks:
        for path in draw_stored(asked.workspace, asked.library, task):
            say(f"wrote {path}")


def table(
    task_id: TaskArgument,
    profile: StoredProfile = None,
    settings: SetOption = None,
    seeds: SeedsOption = None,
    fmt: Annotated[str, typer.Option("--format", help="text, markdown, latex or csv.")] = "text",
    long: Annotated[
        bool, typer.Option("--long", help="A line for each row of the CSV, seeds aggregated.")
    ] = False,
    larger: Annotated[
        bool, typer.Option("--larger", help="Below it that of the largest scale stored.")
    ] = False,
    out: OutOption = None,
    force: ForceOption = False,
) -> None:
    """Print a task's table as the paper prints it, its values beside ours in the same cells."""
    from harness.publish.report.paper_table import TABLE_FORMATS
    from harness.publish.stored import NoResultError
    from harness.store.out import write_out

    known: TableFormat = one_of(fmt, TABLE_FORMATS, "format")
    try:
        found = _stored(task_id, profile, settings, seeds)
        text = found.printed(known, long=long)
        if larger and (best := _stored(task_id, None, None, None)).profile != found.profile:
            text = f"{text}\n{best.printed(known, long=long)}"
    except NoResultError as missing:
        text = missing.paper_alone(known, long=long)
        say(f"{missing}")
    if out is None:
        typer.echo(text, nl=not text.endswith("\n"))
        return
    write_out(out, text.encode(), force=force)
    say(f"wrote {out}")


def report(site_only: SiteOption = False) -> None:
    """Write the static report to site/, and RESULTS.md from the committed profiles."""
    from harness.publish.report.load import load_pages
    from harness.publish.report.write import write_results, write_site
    from harness.store.pair import finish_pairs

    asked = asked_for(None, reads=True)
    finish_pairs(asked.workspace.root / "results")
    store = not site_only
    pages = load_pages(asked.workspace, asked.library, store=store, tell=say_broken)
    if store:
        say(f"wrote {write_results(asked.workspace, asked.library, pages)}")
    say(f"wrote {write_site(asked.workspace, pages)}: open it in a browser")


def _stored(
    task_id: str, profile: str | None, settings: list[str] | None, seeds: int | None
) -> Stored:
    from harness.declare.profiles import PROFILES
    from harness.publish.stored import find_stored

    scales = [parse_profile(profile)] if profile else PROFILES[::-1]
    asked = asked_for([task_id], "smoke", settings, seeds, reads=True)
    return find_stored(asked.library, asked.workspace, asked.library.one(task_id), scales)
