"""Render a task's table: as the paper prints it, or in its long form."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.publish.report.long_table import grid, other_row
from harness.publish.report.printed import Printed, print_tables, print_without_run
from harness.publish.report.table_tex import as_latex, long_latex
from harness.publish.report.table_text import (
    as_csv,
    as_markdown,
    as_text,
    csv_lines,
    others_lines,
    text_grid,
)
from harness.publish.report.text import markdown_cell, markdown_table
from harness.publish.stand_ins import ran_on, ran_on_sentence
from harness.terminal import WIDTH

if TYPE_CHECKING:
    import pandas as pd

TableFormat = Literal["text", "markdown", "latex", "csv"]
TABLE_FORMATS: tuple[TableFormat, ...] = ("text", "markdown", "latex", "csv")


def table_as(
    fmt: TableFormat,
    task: Task,
    table: pd.DataFrame,
    reference: pd.DataFrame,
    *,
    title: str,
    profile: Profile,
    stands_in: Mapping[str, str],
    long: bool = False,
    aside: str = "",
) -> str:
    """Return a task's table as the paper prints it; the long form where it has no layout.

    stands_in: by a name of the paper what was run in its place; long: a line per grid point, mean
    and standard error over seeds, the paper's values below; aside: what sets the table apart from
    the committed one.
    """
    here = ran_on(stands_in)
    named = f"{title} ({aside})" if aside else title
    named = f"{named}. {ran_on_sentence(stands_in)}" if here else named
    content = None
    if task.layouts and not long:
        content = print_tables(task, table, reference, title=named)
    # What a variant overrides may be what the layout names: then nothing of it would be shown.
    if content is None or (aside and not content.has_ours):
        more = {"run": aside, "ran_on": here}
        return _long_as(fmt, task, table, reference, named, profile, more)
    return _printed_as(fmt, content, aside, name=task.id, where=f"profile {profile}")


def paper_alone_as(fmt: TableFormat, task: Task, reference: pd.DataFrame, *, title: str) -> str:
    """Return the paper's values of a task that was not run; empty where there is none to print."""
    content = print_without_run(task, reference, title=title)
    return _printed_as(fmt, content, name=task.id, where="not run here") if content else ""


def _printed_as(
    fmt: TableFormat, content: Printed, aside: str = "", *, name: str, where: str
) -> str:
    head = f"{name}, {where}: {content.title}"
    match fmt:
        case "latex":
            return as_latex(content, name=name, where=where)
        case "markdown":
            return f"{markdown_cell(head)}\n\n{as_markdown(content)}"
        case "csv":
            return as_csv(content, aside)
        case _:
            return as_text(replace(content, title=head))


def _long_as(
    fmt: TableFormat,
    task: Task,
    table: pd.DataFrame,
    reference: pd.DataFrame,
    title: str,
    profile: Profile,
    more: Mapping[str, str],
) -> str:
    """Return a task's long table; a CSV has columns of what sets it apart and what stood in."""
    import pandas as pd

    header, rows = grid(task.table, table)
    others = [other_row(row) for row in reference.to_dict("records")]
    match fmt:
        case "latex":
            return long_latex(header, rows, name=task.id, title=f"{title} (profile {profile})")
        case "text" | "markdown":
            head = f"{task.id}, profile {profile}: {title}"
            if fmt == "text":
                head = textwrap.fill(head, WIDTH)
                lines = text_grid(pd.DataFrame(rows, columns=header))
            else:
                cells = [[markdown_cell(cell) for cell in row] for row in rows]
                lines = markdown_table([markdown_cell(name) for name in header], cells)
            return "\n\n".join([head, lines, *others_lines(others)]) + "\n"
        case _:
            kept = {name: what for name, what in more.items() if what}
            return csv_lines([*header, *kept], *([*row, *kept.values()] for row in rows))
