"""Records to long tables, and tables to CSV files that can be checked again."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

from harness.declare.table import Column, Frame, Table
from harness.declare.task import Task
from harness.errors import DataError, SpecError
from harness.store.record import Record, rows_of
from harness.untrusted import in_one_line

FLOAT_FORMAT = ".9g"
TO_QUOTE = re.compile(r'[,"\r\n]')
"""The csv module leaves a lone carriage return bare, and then reads it as a line's end."""
DTYPES = {"int": "Int64", "float": "float64", "bool": "boolean"}


def long_frame(records: Iterable[Record]) -> Frame:
    """Return one experiment's records as a frame: parameters, values, status; order kept."""
    import pandas as pd

    return pd.DataFrame([row for record in records for row in rows_of(record)])


def build_table(task: Task, frames: Mapping[str, Frame]) -> Frame:
    """Return a task's table from its experiments' long frames, as its CSV holds it.

    Floats have the CSV's nine digits: what is decided and drawn right after a run must be what
    `check` and `plot` find later in the stored file.
    Raises SpecError if the view does not give the declared columns, in their types, with
    distinct keys.
    """
    if task.table.make is not None:
        table = task.table.make(frames)
    elif len(task.reads) == 1:
        table = frames[task.reads[0].id]
    else:
        raise SpecError(f"task {task.id} reads several experiments: declare a view")
    missing = [name for name in task.table.names if name not in table]
    if missing:
        raise SpecError(f"task {task.id}: the table lacks the columns {missing}")
    where = f"task {task.id}"
    checked = validate(table[task.table.names], task.table, where=where)
    return parse_csv(csv_text(checked).encode(), task.table, where=where)


def validate(table: Frame, columns: Table, *, where: str) -> Frame:
    """Return the table with declared types; raises SpecError with the first bad column."""
    import pandas as pd

    typed = {}
    for column in columns.columns:
        cells = table[column.name].reset_index(drop=True)
        try:
            typed[column.name] = cells.astype(_dtype(column))
        except (TypeError, ValueError) as error:
            raise SpecError(
                f"{where}: {column.name} is no {column.type} ({in_one_line(error)})"
            ) from error
        if not column.nullable and typed[column.name].isna().any():
            number = int(typed[column.name].isna().to_numpy().argmax())
            raise SpecError(f"{where}: row {number} has no {column.name}, which must hold a value")
    checked = pd.DataFrame(typed)
    if columns.keys and (repeated := checked.duplicated(columns.keys)).any():
        number = int(repeated.to_numpy().argmax())
        keys = ", ".join(f"{name}={checked[name][number]}" for name in columns.keys)
        raise SpecError(f"{where}: row {number} repeats the key {keys}")
    return checked


def _dtype(column: Column) -> Any:
    import pandas as pd

    if column.type == "str":
        # Tables are small and picked from row by row, which takes longer from strings of pyarrow,
        # the default where it is installed.
        return pd.StringDtype("python", na_value=math.nan)
    return DTYPES[column.type]


def csv_text(table: Frame) -> str:
    """Return a table as CSV: fixed float format, empty for missing, `\\n` line ends."""
    lines = [",".join(map(_quote, table.columns))]
    for row in table.itertuples(index=False, name=None):
        # A line of one empty cell would be no line at all, hence the quotes.
        lines.append(",".join(_quote(format_cell(value)) for value in row) or '""')
    return "\n".join(lines) + "\n"


def _quote(cell: str) -> str:
    if TO_QUOTE.search(cell):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def format_cell(value: Any) -> str:
    """Return a cell as text.

    >>> format_cell(0.1 + 0.2), format_cell(3), format_cell(None), format_cell(True)
    ('0.3', '3', '', 'true')
    """
    # Most cells first: there may be millions.
    if isinstance(value, float):
        return "" if math.isnan(value) else format(value, FLOAT_FORMAT)
    if isinstance(value, str) or type(value) is int:
        return str(value)
    import numpy as np
    import pandas as pd

    if value is None or value is pd.NA:
        return ""
    # Nullable columns hold numpy's own bool, which is no bool.
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    return str(value)


def sha256_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def parse_csv(data: bytes, columns: Table, *, where: str) -> Frame:
    """Return the table that a CSV file holds. Raises DataError that names `where` and the line."""
    import pandas as pd

    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{where} cannot be read ({error})") from error
    lines = list(csv.reader(io.StringIO(text, newline="")))
    if not lines or lines[0] != columns.names:
        found = lines[0] if lines else []
        raise DataError(
            f"{where} line 1: the columns are {found}, the task declares {columns.names}:"
            " run the task again or restore the file"
        )
    for number, cells in enumerate(lines, start=1):
        if len(cells) != len(columns.names):
            raise DataError(f"{where} line {number}: {len(cells)} cells, need {len(columns.names)}")
    by_column: Iterable[Sequence[str]] = zip(*lines[1:], strict=True) if lines[1:] else repeat(())
    # Column by column in its type: a frame of mixed cells would pass large integers as floats.
    return pd.DataFrame(
        {
            column.name: pd.Series(_parse_column(cells, column, where), dtype=_dtype(column))
            for column, cells in zip(columns.columns, by_column, strict=False)
        }
    )


def _parse_column(cells: Sequence[str], column: Column, where: str) -> list[Any]:
    """Return the cells of a column. Raises DataError that names the first wrong one's line."""
    parse, found = _PARSERS[column.type], []
    missing = math.nan if column.type == "float" else None
    for number, cell in enumerate(cells, start=2):
        try:
            found.append(missing if column.nullable and cell == "" else parse(cell))
        except (ValueError, KeyError) as error:
            told = f"={cell[:80]!r} is no {column.type}" if cell else " is empty"
            raise DataError(f"{where} line {number}: {column.name}{told}") from error
    return found


def _int64(cell: str) -> int:
    if not -(2**63) <= int(cell) < 2**63:
        raise ValueError(f"{cell} has more than 64 bits")
    return int(cell)


_PARSERS: dict[str, Callable[[str], Any]] = {
    "int": _int64,
    "float": float,
    "bool": {"true": True, "false": False}.__getitem__,
    "str": str,
}
