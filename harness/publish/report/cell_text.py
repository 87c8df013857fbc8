"""The two numbers of a printed cell as text: ours with its spread, and the paper's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from harness.declare.layout import Cell
from harness.declare.reference import STANDING
from harness.declare.statistics import mean_and_error
from harness.declare.table import Frame
from harness.publish.report.text import PLUS_MINUS, fixed, number

NOT_RUN, NO_VALUE = "x", "-"
ROUNDING = 1e-12
"""Relative; a smaller spread is none."""
THOUSANDS = ((1e9, "B"), (1e6, "M"), (1e3, "k"))


def _is_missing(cell: Any) -> bool:
    """Whether a table's cell holds nothing; pandas.isna takes ten times as long."""
    import pandas as pd

    return cell is None or cell is pd.NA or cell != cell


def ours_text(rows: Frame, cell: Cell, *, seeded: bool) -> tuple[str, int]:
    """Return our number as text, and how many seeds it is a mean over."""
    if rows.empty:
        return cell.absent or NOT_RUN, 0
    cells = [value for value in rows[cell.value].tolist() if not _is_missing(value)]
    if all(isinstance(value, str) for value in cells):
        # Words have no mean: they stand as they are, each once.
        return ", ".join(dict.fromkeys(cells)) or NO_VALUE, 0
    values = [float(value) / cell.scale for value in cells]
    mean, spread = mean_and_error(values)
    if cell.spread:
        spread = float(rows[cell.spread].astype("float64").mean()) / cell.scale
    text = fixed(mean, cell.digits)
    # Equal values have a mean that is off by rounding, and so a spread.
    if spread > ROUNDING * abs(mean):
        text = f"{text} {PLUS_MINUS} {fixed(spread, cell.digits)}"
    if len(values) < len(rows):
        text = f"{text} ({len(values)} of {len(rows)})"
    if cell.remark is not None and (said := cell.remark(rows)):
        text = f"{text} ({said})"
    return text, len(values) if seeded else 0


def paper_text(record: Mapping[Any, Any], cell: Cell) -> str:
    """Return the paper's value as written, unless only its unit is another than the cell's."""
    if cell.scale == 1 and record["status"] == "exact" and record["abs_err"] > 0:
        return rounded(record["value"], record["abs_err"])
    if cell.scale == 1 or record["unit"] == cell.unit or math.isnan(record["value"]):
        return str(record["value_text"])
    return number(record["value"] / cell.scale)


def other_row(row: Mapping[Any, Any]) -> str:
    """Return a reference row as it is listed where it meets no value of ours."""
    at = "" if math.isnan(row["x"]) else f"{row['x_name']} = {number(row['x'])}"
    what = ", ".join(filter(None, [row["series"], at, row["y_name"]]))
    value = " ".join(filter(None, [str(row["value_text"]), row["unit"]]))
    return f"{what}: {value} ({STANDING[row['status']]})"


def rounded(value: float, error: float) -> str:
    """Return a number as it is printed where it was rounded; error: half of its last digit.

    >>> rounded(52_000, 500), rounded(211_300, 50), rounded(1.5e9, 5e7), rounded(80, 0.5)
    ('52k', '211.3k', '1.5B', '80')
    """
    scale, letter = next((s for s in THOUSANDS if value >= s[0]), (1.0, ""))
    return f"{value / scale:.{max(0, round(math.log10(scale / (2 * error))))}f}{letter}"
