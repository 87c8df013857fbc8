"""The paper's values: `reference/*.csv`, each row with its status, source and reading error."""

from __future__ import annotations

import csv
import functools
import io
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import SpecError, nearest
from harness.untrusted import UnreadableError, read_text

if TYPE_CHECKING:
    import pandas as pd

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
"""Status -> how a value may be called in a table, a figure or a verdict."""

MARKS = {"exact": "", "digitised": "t", "early_version": "e", "third_party": "3", "derived": "d"}
"""Status -> the mark behind a value in a printed table."""

NOT_KNOWN = "not known here"
"""What a cell says where no value of the paper is at hand: the paper may print one all the same."""

_WORD = re.compile(r"^[a-z][a-z0-9_]*$")


def standing(status: str) -> str:
    """Say how a row of this status may be called; only `exact` and `digitised` are "paper".

    >>> standing("digitised"), standing("early_version")
    ('paper', 'early version')
    """
    return STANDING[status]


def standings(statuses: Iterable[str]) -> str:
    """Name the standings of some rows, each once, in the order of `STANDING`; "" for none."""
    present = {standing(status) for status in statuses}
    return ", ".join(word for word in dict.fromkeys(STANDING.values()) if word in present)


def published(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that stand as "paper"."""
    return rows[rows["status"].map(standing) == "paper"]


def load_reference(folder: Path, task_word: str | None = None) -> pd.DataFrame:
    """Read a paper's reference values: all, or those of one task by its word (`fig06`).

    folder: the paper's folder, whose `reference/` holds the CSVs.
    Columns: those of `COLUMNS` plus `value_text`, the value as written. `x` and `abs_err` are
    NaN where empty, `value` is NaN where it is not a number. Order: file name, then line.
    Raises SpecError that names file and line for a wrong column, status or number.
    """
    paths = sorted((folder / "reference").glob("*.csv"))
    frame = _frame(tuple((path, _text(path)) for path in paths))
    if task_word is None:
        return frame.copy()
    return frame[frame["task"] == task_word].reset_index(drop=True)


@functools.lru_cache(maxsize=16)
def _frame(files: tuple[tuple[Path, str], ...]) -> pd.DataFrame:
    """Return the rows of files, read once for all tasks of a paper; who changes them copies."""
    import pandas as pd

    rows = [row for path, text in files for row in _rows(path, text)]
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "value_text"])
    return frame.astype(dict.fromkeys(("x", "value", "abs_err"), "float64"))


def _text(path: Path) -> str:
    try:
        return read_text(path)
    except UnreadableError as error:
        raise SpecError(f"{error}: write it again") from error


def _rows(path: Path, text: str) -> list[dict[str, str | float]]:
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise SpecError(f"{path}:{line}: a NUL byte: it is no character of a CSV")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        _check_header(path, next(reader, []))
        return [_read_row(f"{path}:{reader.line_num}", fields) for fields in reader]
    except csv.Error as error:
        raise SpecError(f"{path} is not a CSV in UTF-8 ({error}): write it again") from error


def _check_header(path: Path, header: list[str]) -> None:
    if tuple(header) != COLUMNS:
        unknown = [
            f"unknown column {name!r}{nearest(name, COLUMNS)}, "
            for name in header
            if name not in COLUMNS
        ]
        raise SpecError(f"{path}:1: {''.join(unknown[:1])}need {','.join(COLUMNS)}")


def _read_row(where: str, fields: list[str]) -> dict[str, str | float]:
    if len(fields) != len(COLUMNS):
        raise SpecError(f"{where}: {len(fields)} fields, need {len(COLUMNS)}")
    row: dict[str, str | float] = dict(zip(COLUMNS, fields, strict=True))
    text = dict(zip(COLUMNS, fields, strict=True))
    if not _WORD.match(text["task"]):
        raise SpecError(f"{where}: task={text['task']!r}: give the task's word, such as fig06")
    if text["status"] not in STANDING:
        hint = nearest(text["status"], STANDING) or f": need one of {', '.join(STANDING)}"
        raise SpecError(f"{where}: status={text['status']!r}{hint}")
    for name in ("value", "y_name", "source"):
        if not text[name].strip():
            raise SpecError(f"{where}: {name} is empty: a value needs its name and its source")
    for name in ("x", "abs_err"):
        row[name] = _number(where, name, text[name])
    row["value_text"] = text["value"]
    row["value"] = _number_or_nan(text["value"])
    return row


def _number(where: str, name: str, text: str) -> float:
    number = _number_or_nan(text)
    if text and math.isnan(number):
        raise SpecError(f"{where}: {name}={text!r} is not a number: leave it empty or correct it")
    if name == "abs_err" and number < 0:
        raise SpecError(f"{where}: {name}={text!r} is negative: a reading error is a size")
    return number


def _number_or_nan(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan
