"""Printed tables as text of 80 columns, as Markdown and as CSV."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from harness.lines import WIDTH, wrapped
from harness.publish.report.long_table import OtherRow
from harness.publish.report.printed import Head, Printed, PrintedTable
from harness.publish.report.text import markdown_cell, markdown_table

ROOM = WIDTH
GAP = 2
ROW_HEAD, COLUMN_HEAD = 26, 12
"""How wide a head may be before it is wrapped; a longer word is not broken."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Columns of a table that stand side by side where all do not fit."""

    columns: tuple[int, ...]
    widths: tuple[int, ...]
    """In characters."""

    def spans(self, heads: Sequence[Head]) -> list[tuple[str, list[int]]]:
        """Return the groups of neighbours, each with the places of its columns in the panel."""
        places = range(len(self.columns))
        runs = groupby(places, key=lambda place: heads[self.columns[place]].group)
        return [(group, list(run)) for group, run in runs]

    def width(self, places: Sequence[int]) -> int:
        """Return how wide neighbours are together."""
        return sum(self.widths[place] for place in places) + GAP * (len(places) - 1)


def row_heads(table: PrintedTable) -> list[list[str]]:
    """Return the lines of each row's head."""
    return [wrapped(head.text, width=ROW_HEAD) or [""] for head in table.rows]


def panels(
    table: PrintedTable, room: float, measure: Callable[[str], float] = len, gap: float = GAP
) -> list[Panel]:
    """Return a table's columns in parts that fit, a group whole where that fits.

    measure: how wide a text is, in what the room is in; by default characters.
    """
    widths, texts = _widths(table), table.texts()
    stub = max(measure(line) for lines in row_heads(table) for line in lines)
    sizes = []
    for index, head in enumerate(table.columns):
        shown = [*(row[index] for row in texts), *wrapped(head.text, width=widths[index])]
        sizes.append(max([measure(text) for text in shown]) + gap)
    parts, left = list[list[int]]([[]]), room - stub
    for _, run in groupby(range(len(sizes)), key=lambda index: table.columns[index].group):
        group = list(run)
        if table.columns[group[0]].group and sum(sizes[index] for index in group) > left:
            parts, left = [*parts, []], room - stub
        for index in group:
            if sizes[index] > left:
                parts, left = [*parts, []], room - stub
            parts[-1].append(index)
            left -= sizes[index]
    return [Panel(tuple(part), tuple(widths[i] for i in part)) for part in parts if part]


def _widths(table: PrintedTable) -> list[int]:
    """Return how many characters each column needs for its cells, its head, its group's words."""
    widths, texts = [], table.texts()
    for index, head in enumerate(table.columns):
        cell = max(len(row[index]) for row in texts)
        lines = wrapped(head.text, width=max(cell, COLUMN_HEAD))
        alone = sum(head.group == other.group for other in table.columns) == 1
        group = max(map(len, head.group.split()), default=0) if alone else 0
        widths.append(max(cell, group, *map(len, lines)))
    return widths


def as_text(content: Printed) -> str:
    """Return the tables as text that a terminal of 80 columns holds."""
    parts = [textwrap.fill(content.title, ROOM)]
    for table in content.tables:
        parts += [textwrap.fill(table.title, ROOM)] if table.title else []
        parts += ["\n".join(_panel(table, panel)) for panel in panels(table, ROOM)]
        parts.append("\n".join(textwrap.fill(note, ROOM) for note in table.notes))
    return "\n\n".join([*parts, *others_lines(content.others)]) + "\n"


def _panel(table: PrintedTable, panel: Panel) -> Iterator[str]:
    heads, stubs = table.columns, row_heads(table)
    stub = max((len(line) for lines in stubs for line in lines), default=0)
    gap = " " * GAP
    if any(heads[index].group for index in panel.columns):
        spans = [(group, panel.width(places)) for group, places in panel.spans(heads)]
        yield from _lines(stub, [(wrapped(group, width=width), width) for group, width in spans])
        rules = ["-" * width if group else " " * width for group, width in spans]
        yield " " * stub + gap + gap.join(rules).rstrip()
    columns = list(zip(panel.columns, panel.widths, strict=True))
    yield from _lines(stub, [(wrapped(heads[i].text, width=width), width) for i, width in columns])
    yield "-" * (stub + GAP + panel.width(range(len(panel.columns))))
    texts, group = table.texts(), ""
    for number in shown_rows(table, panel):
        if table.rows[number].group != group:
            group = table.rows[number].group
            yield from wrapped(group)
        *above, last = stubs[number]
        yield from above
        cells = gap.join(texts[number][index].rjust(width) for index, width in columns)
        yield f"{last.ljust(stub)}{gap}{cells}".rstrip()


def shown_rows(table: PrintedTable, panel: Panel) -> list[int]:
    """Return the rows that a panel shows: not those that have something in others alone."""
    texts = table.texts()
    return [n for n, row in enumerate(texts) if any(row[index] for index in panel.columns)]


def _lines(stub: int, heads: Sequence[tuple[list[str], int]]) -> Iterator[str]:
    """Yield the lines of heads that stand side by side, each on its last line."""
    deepest = max(len(lines) for lines, _ in heads)
    for number in range(deepest):
        line = " " * stub
        for lines, width in heads:
            above = deepest - len(lines)
            line += " " * GAP + (lines[number - above] if number >= above else "").center(width)
        yield line.rstrip()


def others_lines(others: Sequence[OtherRow]) -> list[str]:
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
        for group, lines in groupby(
            zip(table.rows, table.texts(), strict=True), key=lambda pair: pair[0].group
        ):
            if group:
                rows.append([f"**{markdown_cell(group)}**", *([""] * len(table.columns))])
            rows += [[markdown_cell(t) for t in (head.text, *texts)] for head, texts in lines]
        heads = [markdown_cell(str(head)) for head in table.columns]
        parts += [markdown_table(["", *heads], rows), markdown_cell(" ".join(table.notes))]
    parts += others_lines(content.others) if listed else []
    return "\n\n".join(parts) + "\n"


def text_grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in 80 columns: below one another where they do not fit side by side."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    parts, left = list[list[int]]([[]]), ROOM - len(str(len(rows)))
    for index, width in enumerate(widths):
        if width + GAP > left and parts[-1]:
            # A line is known by its number, which every part repeats.
            parts, left = [*parts, []], ROOM - len(str(len(rows))) - GAP
        parts[-1].append(index)
        left -= width + GAP
    stub = len(str(len(rows))) if len(parts) > 1 else 0
    told = []
    for part in parts:
        for number, row in enumerate([header, *rows]):
            name = [str(number or "").rjust(stub)] if stub else []
            cells = [row[index].rjust(widths[index]) for index in part]
            told.append((" " * GAP).join([*name, *cells]).rstrip())
        told.append("")
    return "\n".join(told).rstrip("\n")


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
