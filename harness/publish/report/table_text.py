"""Printed tables as text of 80 columns, as Markdown and as CSV."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.publish.report.printed import Printed, PrintedTable
from harness.publish.report.text import markdown_cell, markdown_table
from harness.terminal import WIDTH, wrapped

if TYPE_CHECKING:
    import pandas as pd


def as_text(content: Printed) -> str:
    """Return the tables as text that a terminal of 80 columns holds."""
    parts = [textwrap.fill(content.title, WIDTH)]
    for table in content.tables:
        parts += [textwrap.fill(table.title, WIDTH)] if table.title else []
        parts.append(_side_by_side(table))
        parts.append("\n".join(textwrap.fill(note, WIDTH) for note in table.notes))
    return "\n\n".join([*parts, *others_lines(content.others)]) + "\n"


def _side_by_side(table: PrintedTable) -> str:
    """Return a table's cells, columns below one another where they do not fit beside."""
    import pandas as pd

    heads: list[str] = []
    rows: list[Sequence[str]] = []
    groups: dict[str, str] = {}
    for group, run in table.row_groups():
        if group:
            # Its words may be longer than the heads of its rows: they get a line of their own.
            heads.append(f"<{len(groups)}>")
            groups[heads[-1]] = group
            rows.append([""] * len(table.columns))
        for head, cells in run:
            heads.append(f"  {head}" if group else head)
            rows.append(cells)
    names = [(head.group, head.text) for head in table.columns]
    columns = pd.MultiIndex.from_tuples(names) if any(group for group, _ in names) else None
    frame = pd.DataFrame(
        rows, index=heads, columns=[n for _, n in names] if columns is None else columns
    )
    lines = text_grid(frame).splitlines()
    return "\n".join(
        "\n".join(wrapped(groups[line.strip()])) if line.strip() in groups else line
        for line in lines
    )


def text_grid(frame: pd.DataFrame) -> str:
    """Return a table of text in 80 columns, as many columns beside one another as fit."""
    lines = frame.to_string(line_width=WIDTH).splitlines()
    return "\n".join(line.removesuffix("\\").rstrip() for line in lines)


def others_lines(others: Sequence[str]) -> list[str]:
    """Return the list of the paper's values that stand in no cell, in 80 columns; or nothing."""
    if not others:
        return []
    lines = [line for row in others for line in wrapped(f"- {row}", hang=2)]
    return ["\n".join(["Published values that stand in no cell:", *lines])]


def as_markdown(content: Printed, *, listed: bool = True) -> str:
    """Return the tables as Markdown; `listed`: with the paper's values that stand in no cell."""
    parts = []
    for table in content.tables:
        parts += [f"**{markdown_cell(table.title)}**"] if table.title else []
        rows = []
        for group, lines in table.row_groups():
            if group:
                rows.append([f"**{markdown_cell(group)}**", *([""] * len(table.columns))])
            rows += [[markdown_cell(text) for text in (head, *texts)] for head, texts in lines]
        heads = [markdown_cell(str(head)) for head in table.columns]
        parts += [markdown_table(["", *heads], rows), markdown_cell(" ".join(table.notes))]
    parts += others_lines(content.others) if listed else []
    return "\n\n".join(parts) + "\n"


def as_csv(content: Printed, aside: str = "") -> str:
    """Return the printed cells, an empty line between tables; what marks say is not in it."""
    tables = []
    for table in content.tables:
        cells = zip(table.rows, table.texts(), strict=True)
        rows = ([str(head), *texts] for head, texts in cells)
        title = " ".join(filter(None, [table.title, f"({aside})" if aside else ""]))
        tables.append(csv_lines([title, *map(str, table.columns)], *rows))
    return "\n".join(tables)


def csv_lines(*rows: Sequence[str]) -> str:
    """Return rows as CSV."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()
