"""A task's table in its long form: a line per grid point, aggregated over seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.declare.reference import STANDING
from harness.declare.statistics import mean_and_error
from harness.declare.table import Column, Table
from harness.publish.report.cell_text import ROUNDING, is_missing
from harness.publish.report.text import mean_sem, number

if TYPE_CHECKING:
    import pandas as pd

NO_VALUE = "no value"
"""What our cell says where every seed lacks a value (all runs diverged)."""


def other_row(row: Mapping[Any, Any]) -> str:
    """Return a reference row as it is listed where it meets no value of ours."""
    at = "" if math.isnan(row["x"]) else f"{row['x_name']} = {number(row['x'])}"
    what = ", ".join(filter(None, [row["series"], at, row["y_name"]]))
    value = " ".join(filter(None, [str(row["value_text"]), row["unit"]]))
    return f"{what}: {value} ({STANDING[row['status']]})"


def grid(columns: Table, table: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return header and cells: parameters, the number of seeds, then means with their errors."""
    keys = [column for column in columns.columns if column.role == "param"]
    values = [column for column in columns.columns if column.role in ("value", "measurement")]
    seeded = columns.seed is not None
    groups: dict[tuple[Any, ...], list[dict[Any, Any]]] = {}
    for row in table.to_dict("records"):
        # A missing parameter equals no other, not even itself.
        point = tuple(None if is_missing(row[key.name]) else row[key.name] for key in keys)
        groups.setdefault(point, []).append(row)
    header = [key.name for key in keys] + (["seeds"] if seeded else [])
    rows = [
        [*map(_key, point), *([str(len(found))] if seeded else [])]
        + [_ours([row[value.name] for row in found], value, seeded=seeded) for value in values]
        for point, found in groups.items()
    ]
    return [*header, *(value.name for value in values)], rows


def _key(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, float) else str(value)


def _ours(cells: Sequence[Any], value: Column, *, seeded: bool) -> str:
    """Return our value at a grid point, whose seeds have these cells."""
    known = [cell for cell in cells if not is_missing(cell)]
    if value.type == "bool":
        return {0: "no", len(cells): "yes"}.get(sum(known), f"{sum(known)} of {len(cells)}")
    if value.type == "str":
        return " / ".join(dict.fromkeys(known))
    if not known:
        return NO_VALUE
    mean, error = mean_and_error([float(cell) for cell in known])
    if not seeded:
        return f"{mean:.8g}"  # nothing blurs it
    text = mean_sem(mean, error if error > ROUNDING * abs(mean) else 0.0)
    return text if len(known) == len(cells) else f"{text} ({len(known)} of {len(cells)})"
