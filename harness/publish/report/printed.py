"""A task's table as the paper prints it: in one cell ours, its spread, and the paper's value."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from harness.declare.layout import Layout, Line, Shows
from harness.declare.reference import MARKS, NOT_KNOWN, STANDING
from harness.declare.table import Frame
from harness.declare.task import Task
from harness.publish.report.cell_text import NO_VALUE, NOT_RUN, other_row, ours_text, paper_text
from harness.publish.report.text import PLUS_MINUS

Join = Callable[[str, str], str]
X_TOLERANCE = 1e-3
"""Largest relative difference between a layout's `x` and one of the paper."""
UNKNOWN = "n"
WORDS = {
    **{mark: STANDING.get(status, status) for status, mark in MARKS.items() if mark},
    MARKS["digitised"]: "digitised",
    UNKNOWN: NOT_KNOWN,
    NOT_RUN: "not run here",
    NO_VALUE: "no value of ours",
}
"""What each mark says."""
INFERRED = "layout inferred"
LAYOUT_IS_OURS = "The paper's own layout is not known to us: this one is ours."
TABLE_IS_OURS = "The table is ours."


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A cell: ours, and the paper's value with the mark of its status."""

    ours: str
    """A number with its spread, or the mark that says why there is none."""
    num_seeds: int = 0
    """How many the number is a mean over."""
    ran: bool = True
    """Whether the task's table has a row for it."""
    row: int | None = None
    """Which reference row the paper's value is, by its place among them."""
    paper: str = UNKNOWN
    mark: str = ""
    shows: Shows = "both"

    @property
    def has_spread(self) -> bool:
        return PLUS_MINUS in self.ours

    @property
    def is_empty(self) -> bool:
        """Whether it holds neither ours nor the paper's."""
        return not self.ran and self.row is None


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a row or a column, and of its group."""

    text: str
    group: str = ""

    def __str__(self) -> str:
        return f"{self.group}: {self.text}" if self.group else self.text


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintedTable:
    """One printed table."""

    title: str = ""
    rows: tuple[Head, ...]
    columns: tuple[Head, ...]
    places: tuple[tuple[Place, ...], ...]
    """Row by row."""
    notes: tuple[str, ...] = ()
    """What the marks say, then footnotes."""
    corner: str = ""
    """The head of the rows' heads, where they are values of a column."""

    def texts(self, join: Join = operator.add) -> list[list[str]]:
        """Return the cells row by row; join: makes one text of a cell's and the mark behind it."""
        beside = _meets_paper(self.places)
        return [
            [join(" / ".join(filter(None, sides)), mark) for *sides, mark in _shown(row, beside)]
            for row in self.places
        ]

    def column_groups(self) -> list[tuple[str, int]]:
        """Return the groups of neighbouring columns, and how many columns each has."""
        runs = groupby(self.columns, key=lambda head: head.group)
        return [(group, len(list(run))) for group, run in runs]

    def row_groups(
        self, join: Join = operator.add
    ) -> list[tuple[str, list[tuple[str, list[str]]]]]:
        """Return neighbouring rows of one group together: each row's head and cells."""
        rows = zip(self.rows, self.texts(join), strict=True)
        return [
            (group, [(head.text, cells) for head, cells in run])
            for group, run in groupby(rows, key=lambda row: row[0].group)
        ]


def _shown(row: Sequence[Place], beside: bool) -> Iterator[tuple[str, str, str]]:
    """Yield what stands in the cells of a row: ours, the paper's value, and the mark behind it.

    beside: whether any cell of the table has a value of the paper; else all hold ours alone.
    """
    has_any = not all(place.is_empty for place in row)
    for place in row:
        if beside and has_any and place.is_empty:
            yield "", "", ""
        elif not beside or place.shows == "ours":
            yield place.ours, "", ""
        else:
            yield "" if place.shows == "paper" else place.ours, place.paper, place.mark


@dataclass(frozen=True, kw_only=True, slots=True)
class Printed:
    """The printed tables of a task, and the paper's values that meet no cell of them."""

    name: str
    """The task's id."""
    tables: tuple[PrintedTable, ...]
    others: tuple[str, ...]
    title: str = ""
    where: str = ""
    """Where it was run."""
    aside: str = ""
    """What sets it apart from the committed one."""

    @property
    def head(self) -> str:
        return f"{self.name}, {self.where}: {self.title}"

    @property
    def has_ours(self) -> bool:
        """Whether any number of ours stands in a cell."""
        cells = (place for table in self.tables for row in table.places for place in row)
        return any(place.ours != NOT_RUN for place in cells)


def print_without_run(task: Task, reference: Frame) -> Printed | None:
    """Lay out the paper's values alone, of a task that has none of ours."""
    import pandas as pd

    if not task.layouts or reference.empty:
        return None
    nothing = pd.DataFrame(columns=task.table.names)
    return print_tables(task, nothing, reference)


def print_tables(task: Task, table: Frame, reference: Frame) -> Printed:
    """Lay out a task's table as its layouts say, with the paper's values in the same cells.

    A further table that holds no value at all is left out, and so is a row that repeats the
    paper's values beside nothing of ours.
    """
    records = reference.to_dict("records")
    tables, met = list[PrintedTable](), set[int]()
    for layout in task.layouts:
        at = layout.searched(table)
        rows = [
            tuple(
                _place(task, layout, at(row, column), records, row, column)
                for column in layout.columns
            )
            for row in layout.rows
        ]
        kept = _kept(rows)
        if not kept and tables:
            continue
        kept = kept or list(range(len(rows)))
        met |= {place.row for row in rows for place in row if place.row is not None}
        tables.append(_printed(task, layout, rows, kept))
    others = [other_row(row) for index, row in enumerate(records) if index not in met]
    return Printed(name=task.id, tables=tuple(tables), others=tuple(others))


def _kept(rows: Sequence[Sequence[Place]]) -> list[int]:
    """Return which rows are printed; none where there is nothing to print at all."""
    ran = [any(place.ran for place in row) for row in rows]
    if not any(ran) and not _meets_paper(rows):
        return []
    shown = {place.row for row, kept in zip(rows, ran, strict=True) if kept for place in row}
    kept = []
    for index, row in enumerate(rows):
        stated = {place.row for place in row} - {None}
        if ran[index] or not stated or not stated <= shown:
            kept.append(index)
            shown |= stated
    return kept


def _meets_paper(rows: Sequence[Sequence[Place]]) -> bool:
    return any(place.row is not None for row in rows for place in row)


def _printed(
    task: Task,
    layout: Layout,
    rows: Sequence[tuple[Place, ...]],
    kept: Sequence[int],
) -> PrintedTable:
    of_table, of_columns, of_rows = _units(layout)
    left_out = [row for index, row in enumerate(layout.rows) if index not in kept]
    places = tuple(tuple(rows[index]) for index in kept)
    lines = [layout.rows[index] for index in kept]
    inferred = INFERRED if layout.inferred else ""
    title = ", ".join(filter(None, [layout.title, inferred, of_table and f"in {of_table}"]))
    return PrintedTable(
        title=title[:1].upper() + title[1:],
        rows=_heads(lines, [of_rows[index] for index in kept]),
        columns=_heads(layout.columns, of_columns),
        places=places,
        notes=(_legend(task, layout, places), *_footnotes(task, layout, places, left_out)),
    )


def _heads(lines: Sequence[Line], units: Sequence[str]) -> tuple[Head, ...]:
    """Return the heads of rows, or of columns, with their units."""
    return tuple(
        Head(f"{line.head} ({unit})" if unit else line.head, line.group)
        for line, unit in zip(lines, units, strict=True)
    )


def _units(layout: Layout) -> tuple[str, list[str], list[str]]:
    """Return the unit of the whole table, or those of its columns, or else those of its rows."""
    units = [[layout.cell_of(row, column).unit for column in layout.columns] for row in layout.rows]
    by_column = [{*column} for column in zip(*units, strict=True)]
    no_columns, no_rows = [""] * len(layout.columns), [""] * len(layout.rows)
    every = set[str]().union(*by_column)
    if len(every) == 1:
        return every.pop(), no_columns, no_rows
    if all(len(found) == 1 for found in by_column):
        return "", units[0], no_rows
    return "", no_columns, [" or ".join(sorted({*row} - {""})) for row in units]


def _footnotes(
    task: Task, layout: Layout, places: Sequence[Sequence[Place]], left_out: Sequence[Line]
) -> Iterator[str]:
    if layout.ours and task.is_of_paper and task.kind == "table":
        yield LAYOUT_IS_OURS
    elif layout.ours and (task.is_of_paper or _meets_paper(places)):
        yield TABLE_IS_OURS
    if left_out:
        groups = {row.group for row in layout.rows if row not in left_out}
        names = dict.fromkeys(_name_of(row, is_part=row.group in groups) for row in left_out)
        yield f"Left out, as not run here: {', '.join(names)}."
    yield from layout.notes


def _name_of(row: Line, *, is_part: bool) -> str:
    """Return what a row that is left out is called: with all its group by the group's name.

    is_part: whether others of its group are there.
    """
    if not row.group:
        return row.head
    return f"{row.head} ({row.group})" if is_part else row.group


def _legend(task: Task, layout: Layout, rows: Sequence[Sequence[Place]]) -> str:
    """Say what stands in a cell, and what the marks say that occur."""
    places = [place for row in rows for place in row]
    beside = _meets_paper(rows)
    none_known = "Ours alone: no value of the paper is at hand"
    alone = none_known if task.is_of_paper else "Table and numbers are ours"
    parts = [_sides(places) if beside else alone]
    if any(place.has_spread for place in places):
        parts.append(f"{PLUS_MINUS} {_spread(task, layout, places)}")
    shown = [cell for row in rows for cell in _shown(row, beside)]
    # A number or word of ours may be spelled as a mark of the paper's.
    marks = {ours for ours, _, _ in shown} & {NOT_RUN, NO_VALUE}
    marks |= {mark or paper for _, paper, mark in shown}
    parts += [f"{mark} {words}" for mark, words in WORDS.items() if mark in marks]
    parts += ["empty where there is neither"] if ("", "", "") in shown else []
    return "; ".join(parts) + "."


def _sides(places: Sequence[Place]) -> str:
    """Say where ours stands and where the paper's."""
    shown = {place.shows for place in places}
    if "both" not in shown:
        return "Ours and the paper's, each in a column of its own"
    return "Ours / the paper's" + ("; a column of single values is ours" if "ours" in shown else "")


def _spread(task: Task, layout: Layout, places: Sequence[Place]) -> str:
    """Say what the spread is."""
    cells = {layout.cell_of(row, column).spread for row, column in layout.places()}
    docs = [column.doc for column in task.table.columns if column.name in cells]
    if docs:
        return docs[0].removeprefix("Its ").rstrip(".")
    counts = sorted({place.num_seeds for place in places if place.has_spread})
    over = " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))
    return f"standard error of the mean over {over} seeds"


def _place(
    task: Task,
    layout: Layout,
    found: Frame,
    records: Sequence[Mapping[Any, Any]],
    row: Line,
    column: Line,
) -> Place:
    """Return a place; found: the rows of the task's table that belong to it."""
    cell = layout.cell_of(row, column)
    ours, num_seeds = ours_text(found, cell, seeded=task.table.seed is not None and cell.seeded)
    place = Place(ours=ours, num_seeds=num_seeds, ran=not found.empty, shows=column.shows)
    index = _reference(records, row.paper, column.paper)
    if index is None:
        return place
    record = records[index]
    paper = paper_text(record, cell)
    return replace(place, row=index, paper=paper, mark=MARKS[record["status"]])


def _reference(
    records: Sequence[Mapping[Any, Any]], row: Mapping[str, str], column: Mapping[str, str]
) -> int | None:
    """Return which reference row belongs to a place, the first of several."""
    if not row or not column:
        return None
    wanted = {**row, **column}
    words = sorted(f"{row.get('series', '')} {column.get('series', '')}".split())
    return next(
        (
            index
            for index, record in enumerate(records)
            if wanted.get("y_name", record["y_name"]) == record["y_name"]
            and sorted(record["series"].split()) == words
            and _same_x(wanted.get("x", ""), record["x"])
        ),
        None,
    )


def _same_x(wanted: str, x: float) -> bool:
    if not wanted or math.isnan(x):
        return not wanted and math.isnan(x)
    return math.isclose(float(wanted), x, rel_tol=X_TOLERANCE, abs_tol=1e-12)
