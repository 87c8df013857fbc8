"""How a paper prints a table: its rows, its columns, and what stands in a cell.

Layout(
    rows=tuple(Line(name, where={"shape": shape}) for shape, name in MODELS.items()),
    columns=(Line("Vanilla", where={"method": "full"}), Line("r = 128", group="LoRA", ...)),
    cell=Cell("total_bytes", unit="GB", scale=1e9, digits=1),
    where={"seq_len": 512},
)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from harness.declare.params import Scalar
from harness.declare.table import Frame, Table
from harness.errors import SpecError

Where = Mapping[str, Scalar]
"""Columns of the task's table and the values that its rows must have there."""
Shows = Literal["both", "ours", "paper"]
Remark = Callable[[Frame], str]
"""From the rows of a place to a word on its number, or to nothing."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell shows: a column of the task's table, averaged over its seeds; or its words."""

    value: str
    unit: str = ""
    scale: float = 1.0
    """What one printed unit is in the column's: 1e9 for GB of a column in bytes."""
    digits: int = 2
    """After the decimal point."""
    spread: str = ""
    """A column that holds the spread; by default the standard error over seeds is taken."""
    absent: str = ""
    """What stands where the table has no row, if that is not that it was not run: `swept`."""
    seeded: bool = True
    """Whether a seed can change it: what is counted or computed has one number, whatever it is."""
    remark: Remark | None = None
    """What stands behind the number, in brackets."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row or a column of a printed table."""

    head: str
    group: str = ""
    """What stands above or before several lines together."""
    where: Where = field(default_factory=dict)
    """Which rows of the task's table belong to the line."""
    cell: Cell | None = None
    """What its cells show, where that is not what the others show."""
    paper: Mapping[str, str] = field(default_factory=dict)
    """Which reference rows belong to the line: `series`, `x` or `y_name`, and what it says.

    A place has a value of the paper where both its row and its column name one: the words of both
    series together, in any order, and the x as a number.
    """
    shows: Shows = "both"
    """Which side stands in a column's cells, where the two have columns of their own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """One printed table."""

    rows: tuple[Line, ...]
    columns: tuple[Line, ...]
    cell: Cell | None = None
    """What a place shows whose row and column do not say."""
    where: Where = field(default_factory=dict)
    """Which rows of the task's table the whole layout is about."""
    title: str = ""
    """Where a task prints several tables: what this one shows."""
    notes: tuple[str, ...] = ()
    """Footnotes, a sentence each."""
    inferred: bool = False
    """Whether the paper has this table, and its rows and columns are inferred: its head says so."""
    ours: bool = False
    """Whether the paper's own layout is not known to us, so that this one is ours."""

    def check(self, table: Table) -> None:
        """Raise SpecError for a column that a task's table does not have."""
        for row, column in self.places():
            cell = self.cell_of(row, column)
            named = {*self.where, *row.where, *column.where, cell.value, cell.spread or cell.value}
            if unknown := named - set(table.names):
                raise SpecError(f"the layout names {sorted(unknown)}, which the table has not")

    def places(self) -> Iterator[tuple[Line, Line]]:
        """Yield every row with every column."""
        yield from ((row, column) for row in self.rows for column in self.columns)

    def cell_of(self, row: Line, column: Line) -> Cell:
        """Return what a place shows: the column's word goes before the row's."""
        found = column.cell or row.cell or self.cell
        if found is None:
            raise SpecError(f"nothing says what {row.head}, {column.head} shows: name a cell")
        return found

    def searched(self, table: Frame) -> Callable[[Line, Line], Frame]:
        """Return what finds the rows of a place, with or without a value: at most one per seed."""
        rows_by: dict[tuple[str, ...], dict[tuple[Scalar, ...], list[int]]] = {}

        def at(row: Line, column: Line) -> Frame:
            where = {**self.where, **row.where, **column.where}
            if not where:
                return table
            names = tuple(where)
            if names not in rows_by:
                # Once for all places of these columns: each search of its own reads the table.
                found = rows_by.setdefault(names, {})
                for number, key in enumerate(zip(*(table[n].tolist() for n in names), strict=True)):
                    found.setdefault(key, []).append(number)
            return table.take(rows_by[names].get(tuple(where.values()), []))

        return at
