"""Render a task's table: as the paper prints it, or in its long form."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from harness.declare.profiles import Profile
from harness.declare.reference import NOT_KNOWN
from harness.declare.task import Task
from harness.publish.report.beside import Beside, beside
from harness.publish.report.printed import Printed, print_tables, print_without_run
from harness.publish.report.table_tex import as_latex, tex
from harness.publish.report.table_text import ROOM, as_csv, as_markdown, as_text, csv_lines
from harness.publish.report.text import markdown_cell, markdown_table
from harness.publish.stand_ins import ran_on

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

    stands_in: by a name of the paper what was run in its place; long: a line per row of the
    table, aggregated over seeds; aside: what sets the table apart from the committed one.
    """
    here = ran_on(stands_in)
    content = None
    if task.layouts and not long:
        content = print_tables(task, table, reference, title=title)
    # What a variant overrides may be what the layout names: then nothing of it would be shown.
    if content is None or (aside and not content.has_ours):
        return _long_as(fmt, task, beside(task.table, table, reference), title, profile, here, aside)
    return _printed_as(fmt, content, here, aside, name=task.id, where=f"profile {profile}")


def paper_alone_as(fmt: TableFormat, task: Task, reference: pd.DataFrame, *, title: str) -> str:
    """Return the paper's values of a task that was not run; empty where there is none to print."""
    content = print_without_run(task, reference, title=title)
    return _printed_as(fmt, content, name=task.id, where="not run here") if content else ""


def _titled(title: str, here: str, aside: str) -> str:
    """Return a title with what sets the table apart, and what was run for what."""
    apart = f"{title} ({aside})" if aside else title
    return f"{apart}. Ran on: {here}." if here else apart


def _printed_as(
    fmt: TableFormat, content: Printed, here: str = "", aside: str = "", *, name: str, where: str
) -> str:
    whole = replace(content, title=_titled(content.title, here, aside))
    head = f"{name}, {where}: {whole.title}"
    match fmt:
        case "latex":
            return as_latex(whole, name=name, where=where)
        case "markdown":
            return f"{markdown_cell(head)}\n\n{as_markdown(content)}"
        case "csv":
            return as_csv(content)
        case _:
            return as_text(replace(whole, title=head))


def _long_as(
    fmt: TableFormat,
    task: Task,
    content: Beside,
    title: str,
    profile: Profile,
    here: str,
    aside: str,
) -> str:
    """Return a task's table, aggregated over seeds, with the paper's values beside ours.

    Our numbers are mean and standard error of the mean over seeds. A column of the paper's
    values stands after each of ours that any of them meets; its other cells say that none
    is known here. What is not the paper itself says so in its cell. A CSV has columns of what
    stood in and of what sets it apart.
    """
    header, rows = grid(content)
    named = _titled(title, here, aside)
    match fmt:
        case "latex":
            return _latex(task, named, content, header, rows, profile)
        case "text" | "markdown":
            cells = [[markdown_cell(cell) for cell in row] for row in rows]
            lines = markdown_table([markdown_cell(name) for name in header], cells)
            head = f"{task.id}, profile {profile}: {named}"
            head = textwrap.fill(head, ROOM) if fmt == "text" else markdown_cell(head)
            return f"{head}\n\n{lines}\n"
        case _:
            more = {name: what for name, what in (("run", aside), ("ran_on", here)) if what}
            lines_of = ([*row, *more.values()] for row in rows)
            return csv_lines([*header, *more], *lines_of)


def grid(content: Beside) -> tuple[list[str], list[list[str]]]:
    """Return header and cells: parameters, seeds, then ours and the paper's per value column."""
    header = [key.name for key in content.keys]
    header += ["seeds"] if content.seeded else []
    in_paper = content.in_paper
    for value, shown in zip(content.values, in_paper, strict=True):
        header += [value.name, f"{value.name} (published)"] if shown else [value.name]
    rows = []
    for line in content.lines:
        row = [*line.keys, *([str(line.num_seeds)] if content.seeded else [])]
        for ours, paper, shown in zip(line.ours, line.papers, in_paper, strict=True):
            row += [ours, str(paper) if paper else NOT_KNOWN] if shown else [ours]
        rows.append(row)
    return header, rows


def _latex(
    task: Task,
    title: str,
    content: Beside,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    profile: Profile,
) -> str:
    import pandas as pd

    spread = "; mean and standard error of the mean over seeds" if content.seeded else ""
    plain = pd.DataFrame(rows, columns=list(header)).map(tex).rename(columns=tex)
    table = plain.to_latex(
        index=False,
        caption=f"{tex(title)} (profile {profile}{spread}).",
        label=f"tab:{re.sub('[^a-z0-9]', '-', task.id)}",
        column_format="l" * len(content.keys) + "r" * (len(header) - len(content.keys)),
    )
    return f"% needs \\usepackage{{booktabs}}\n{table}"
