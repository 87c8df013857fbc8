"""The paper's values: `reference/*.csv`, each row with its status, source and reading error."""

from __future__ import annotations

import csv
import functools
import io
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.declare.table import Frame
from harness.errors import SpecError
from harness.untrusted import UnreadableError, read_text

COLUMNS = (
    "task", "series", "x_name", "x", "y_name", "value",
    "unit", "abs_err", "status", "version", "source",
)  # fmt: skip
"""Columns of every reference file, in this order."""

STANDING = {
    "exact": "paper",
    "digitised": "paper",
    "early_version": "early version",
    "third_party": "third party",
    "derived": "derived",
}
"""Status -> how a value may be called in a table, a figure or a verdict; two of them "paper"."""

MARKS = {"exact": "", "digitised": "t", "early_version": "e", "third_party": "3", "derived": "d"}
"""Status -> the mark behind a value in a printed table."""

NOT_KNOWN = "not known here"
"""What a cell says where no value of the paper is at hand: the paper may print one all the same."""

_WORD = re.compile(r"^[a-z][a-z0-9_]*$")


def standings(statuses: Iterable[str]) -> str:
    """Name the standings of some rows, each once, in the order of `STANDING`; "" for none."""
    present = {STANDING[status] for status in statuses}
    return ", ".join(word for word in dict.fromkeys(STANDING.values()) if word in present)


def published(rows: Frame) -> Frame:
    """Return the rows that stand as "paper"."""
    return rows[rows["status"].map(STANDING) == "paper"]


def load_reference(folder: Path, task_word: str | None = None) -> Frame:
    """Read a paper's reference values: all, or those of one task by its word (`fig06`).

    folder: the paper's folder, whose `reference/` holds the CSVs.
    Columns: those of `COLUMNS` plus `value_text`, the value as written. `x` and `abs_err` are
    NaN where empty, `value` is NaN where it is not a number. Order: file name, then line.
    Raises SpecError that names file and line for a wrong column, status or number.
    """
    paths = sorted((folder / "reference").glob("*.csv"))
    try:
        frame = _frame(tuple((path, read_text(path)) for path in paths))
    except UnreadableError as error:
        raise SpecError(f"{error}: write it again") from error
    if task_word is None:
        return frame.copy()
    return frame[frame["task"] == task_word].reset_index(drop=True)


@functools.lru_cache(maxsize=16)
def _frame(files: tuple[tuple[Path, str], ...]) -> Frame:
    """Return the rows of files, read once for all tasks of a paper; who changes them copies."""
    import pandas as pd

    rows = [row for path, text in files for row in _rows(path, text)]
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "value_text"])
    return frame.astype(dict.fromkeys(("x", "value", "abs_err"), "float64"))


def _rows(path: Path, text: str) -> Iterator[dict[str, str | float]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        if tuple(next(reader, [])) != COLUMNS:
            raise SpecError(f"{path}:1: need the columns {','.join(COLUMNS)}")
        for fields in reader:
            row = dict(zip(COLUMNS, fields, strict=False))
            if wrong := "a wrong number of fields" if len(fields) != len(COLUMNS) else _fault(row):
                raise SpecError(f"{path}:{reader.line_num}: {wrong}")
            numbers = {name: _number(row[name]) for name in ("x", "abs_err", "value")}
            yield {**row, **numbers, "value_text": row["value"]}
    except csv.Error as error:
        raise SpecError(f"{path}:{reader.line_num}: no CSV ({error}): write it again") from error


def _fault(row: dict[str, str]) -> str:
    """Say what is wrong with a row, or nothing."""
    if not _WORD.match(row["task"]):
        return f"task={row['task']!r}: give the task's word, such as fig06"
    if row["status"] not in STANDING:
        return f"status={row['status']!r}: need one of {', '.join(STANDING)}"
    for name in ("value", "y_name", "source"):
        if not row[name].strip():
            return f"{name} is empty: a value needs its name and its source"
    for name in ("x", "abs_err"):
        if row[name] and not _number(row[name]) >= (0.0 if name == "abs_err" else -math.inf):
            return f"{name}={row[name]!r} is no number, or a negative error: correct it"
    return ""


def _number(text: str) -> float:
    """Return a number, NaN for what is none or not finite."""
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan
