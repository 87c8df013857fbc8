"""Render a task's table for a paper: LaTeX with booktabs, Markdown, or CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from harness.declare.profiles import Profile
from harness.declare.reference import NOT_PUBLISHED
from harness.declare.task import Task
from harness.publish.report.beside import Beside, beside
from harness.publish.report.text import PLUS_MINUS, markdown_cell, markdown_table

if TYPE_CHECKING:
    import pandas as pd

TableFormat = Literal["latex", "markdown", "csv"]
TABLE_FORMATS: tuple[TableFormat, ...] = ("latex", "markdown", "csv")

_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    PLUS_MINUS: r"$\pm$", "\u03bc": r"$\mu$", "\u03c1": r"$\rho$", "<": r"$<$", ">": r"$>$",
}  # fmt: skip


def paper_table(
    task: Task,
    table: pd.DataFrame,
    reference: pd.DataFrame,
    *,
    title: str,
    profile: Profile,
    fmt: TableFormat,
) -> str:
    """Return a task's table, aggregated over seeds, with the paper's values beside ours.

    Our numbers are mean and standard error of the mean over seeds. A column of the paper's
    values stands after each of ours that any of them meets; its other cells say that nothing
    was published. What is not the paper itself says so in its cell.
    """
    content = beside(task.table, table, reference)
    header, rows = grid(content)
    match fmt:
        case "latex":
            return _latex(task, title, content, header, rows, profile)
        case "markdown":
            cells = [[markdown_cell(cell) for cell in row] for row in rows]
            return markdown_table([markdown_cell(name) for name in header], cells) + "\n"
        case _:
            return _csv(header, rows)


def grid(content: Beside) -> tuple[list[str], list[list[str]]]:
    """Return header and cells: parameters, seeds, then ours and the paper's per value column."""
    header = [key.name for key in content.keys]
    header += ["seeds"] if content.seeded else []
    for value, shown in zip(content.values, content.in_paper, strict=True):
        header += [value.name, f"{value.name} (published)"] if shown else [value.name]
    rows = []
    for line in content.lines:
        row = [*line.keys, *([str(line.num_seeds)] if content.seeded else [])]
        for ours, paper, shown in zip(line.ours, line.papers, content.in_paper, strict=True):
            row += [ours, str(paper) if paper else NOT_PUBLISHED] if shown else [ours]
        rows.append(row)
    return header, rows


def _csv(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([header, *rows])
    return stream.getvalue()


def _latex(
    task: Task,
    title: str,
    content: Beside,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    profile: Profile,
) -> str:
    spread = "; mean and standard error of the mean over seeds" if content.seeded else ""
    align = "l" * len(content.keys) + "r" * (len(header) - len(content.keys))
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "  \\centering",
        f"  \\caption{{{tex(title)} (profile {profile}{spread}).}}",
        f"  \\label{{tab:{re.sub('[^a-z0-9]', '-', task.id)}}}",
        f"  \\begin{{tabular}}{{{align}}}",
        "    \\toprule",
        f"    {' & '.join(tex(name) for name in header)} \\\\",
        "    \\midrule",
        *(f"    {' & '.join(tex(cell) for cell in row)} \\\\" for row in rows),
        "    \\bottomrule",
        "  \\end{tabular}",
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def tex(text: str) -> str:
    """Return text with every character that LaTeX would read as a command made plain.

    >>> tex("train_loss, 5 %")
    'train\\\\_loss, 5 \\\\%'
    """
    return "".join(_TEX.get(char, char) for char in text)
