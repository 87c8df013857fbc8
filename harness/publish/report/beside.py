"""Set our table beside the paper's values: one line per grid point, aggregated over seeds."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.declare.reference import standing
from harness.declare.statistics import mean_and_error
from harness.declare.table import Column, Table
from harness.publish.report.cell_text import ROUNDING, is_missing
from harness.publish.report.text import exact, mean_sem, number

if TYPE_CHECKING:
    import pandas as pd

X_TOLERANCE = 1e-3
"""Largest relative difference between a parameter of ours and an `x` of the paper."""
NO_VALUE = "no value"
"""What our cell says where every seed lacks a value (all runs diverged)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperCell:
    """One value of the paper, as printed there."""

    text: str
    standing: str
    """paper, early version, third party or derived."""
    source: str
    num_lines: int = 1
    """How many lines of our table it is stated for: the paper may tell fewer cases apart."""

    def __str__(self) -> str:
        notes = [] if self.standing == "paper" else [self.standing]
        notes += [f"for {self.num_lines} lines"] if self.num_lines > 1 else []
        return f"{self.text} ({', '.join(notes)})" if notes else self.text


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherRow:
    """A value of the paper that meets no line of our table."""

    series: str
    at: str
    name: str
    unit: str
    cell: PaperCell


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One grid point: its parameters, our values, and the paper's beside them."""

    keys: tuple[str, ...]
    num_seeds: int
    ours: tuple[str, ...]
    papers: tuple[PaperCell | None, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Beside:
    """A task's table with the paper's values beside ours."""

    keys: tuple[Column, ...]
    values: tuple[Column, ...]
    seeded: bool
    """Whether the table has seeds, so that our values are means."""
    lines: tuple[Line, ...]
    others: tuple[OtherRow, ...]

    @property
    def in_paper(self) -> tuple[bool, ...]:
        """Per value column, whether the paper's value stands in any line."""
        return tuple(
            any(line.papers[index] is not None for line in self.lines)
            for index in range(len(self.values))
        )


def beside(columns: Table, table: pd.DataFrame, reference: pd.DataFrame) -> Beside:
    """Aggregate our table over seeds and find the paper's value for each cell.

    A reference row meets a line where `x` is the parameter named `x_name`, to 0.1 %, and every word
    of `series` (blank-separated; `name=value` or a value alone) equals another parameter. Its
    `y_name` is one of our columns, or, in a table with one value column, a parameter's value.
    A row that meets several lines stands beside each, with their number; one that meets none,
    or only cells that have a value, goes to `others`.
    """
    keys = tuple(c for c in columns.columns if c.role == "param")
    values = tuple(c for c in columns.columns if c.role in ("value", "measurement"))
    groups = _groups(table, keys)
    found, others = _assign(reference, [rows[0] for rows in groups], keys, values)
    seeded = columns.seed is not None
    lines = tuple(
        Line(
            keys=tuple(_key_text(rows[0][key.name]) for key in keys),
            num_seeds=len(rows),
            ours=tuple(_ours([row[v.name] for row in rows], v, seeded=seeded) for v in values),
            papers=tuple(found.get((index, position)) for position in range(len(values))),
        )
        for index, rows in enumerate(groups)
    )
    return Beside(
        keys=keys,
        values=values,
        seeded=seeded,
        lines=lines,
        others=tuple(others),
    )


def _assign(
    reference: pd.DataFrame,
    points: Sequence[Mapping[str, Any]],
    keys: Sequence[Column],
    values: Sequence[Column],
) -> tuple[dict[tuple[int, int], PaperCell], list[OtherRow]]:
    """Return the paper's value per (line, value column), and the rows that found no place."""
    rows = [(row, _places(row, points, keys, values)) for row in reference.to_dict("records")]
    found: dict[tuple[int, int], PaperCell] = {}
    placed: set[int] = set()
    # What is stated for fewer lines is the more precise, so it chooses first.
    for index in sorted(range(len(rows)), key=lambda index: len(rows[index][1])):
        row, places = rows[index]
        for place in places:
            if place not in found:
                found[place] = _cell(row, num_lines=len(places))
                placed.add(index)
    others = [other_row(row) for index, (row, _) in enumerate(rows) if index not in placed]
    return found, others


def _cell(row: Mapping[Any, Any], *, num_lines: int) -> PaperCell:
    return PaperCell(
        text=str(row["value_text"]),
        standing=standing(row["status"]),
        source=str(row["source"]),
        num_lines=num_lines,
    )


def _groups(table: pd.DataFrame, keys: Sequence[Column]) -> list[list[dict[Any, Any]]]:
    """Return the rows of each grid point, one a seed, in order of first appearance."""
    groups: dict[tuple[Any, ...], list[dict[Any, Any]]] = {}
    for row in table.to_dict("records"):
        # A missing parameter equals no other, not even itself.
        key = tuple(None if is_missing(row[each.name]) else row[each.name] for each in keys)
        groups.setdefault(key, []).append(row)
    return list(groups.values())


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
        return exact(mean)
    text = mean_sem(mean, error if error > ROUNDING * abs(mean) else 0.0)
    return text if len(known) == len(cells) else f"{text} ({len(known)} of {len(cells)})"


def _key_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, float) else str(value)


def _places(
    row: Mapping[Any, Any],
    points: Sequence[Mapping[str, Any]],
    keys: Sequence[Column],
    values: Sequence[Column],
) -> list[tuple[int, int]]:
    """Return (line, value column) of every cell that a reference row may stand beside."""
    names = [value.name for value in values]
    words = str(row["series"]).split()
    if row["y_name"] in names:
        position = names.index(row["y_name"])
    elif len(names) == 1:
        position = 0
        words.append(str(row["y_name"]))
    else:
        return []
    free = [key.name for key in keys]
    has_x = bool(row["x_name"]) and not math.isnan(row["x"])
    if has_x and row["x_name"] not in free:
        return []
    if has_x:
        free.remove(row["x_name"])
    return [
        (index, position)
        for index, point in enumerate(points)
        if (not has_x or _at(point[row["x_name"]], row["x"])) and _meets(words, point, free)
    ]


def _meets(words: Sequence[str], point: Mapping[str, Any], free: Sequence[str]) -> bool:
    """Whether every word equals a parameter of the point, each parameter used once."""
    left = list(free)
    for word in words:
        name, equals, wanted = word.partition("=")
        candidates = [name] if equals and name in left else left
        wanted = wanted if equals and name in left else word
        match = next((key for key in candidates if _same(point[key], wanted)), None)
        if match is None:
            return False
        left.remove(match)
    return True


def _same(ours: Any, wanted: Any) -> bool:
    if isinstance(ours, (int, float)) and not isinstance(ours, bool):
        try:
            return math.isclose(float(ours), float(wanted), rel_tol=1e-6, abs_tol=1e-12)
        except ValueError:
            return False
    return _plain(str(ours)) == _plain(str(wanted))


def _at(ours: Any, x: float) -> bool:
    # Readings are rounded: -10.95 stands for log2(0.0162) - 5 = -10.9479.
    number = isinstance(ours, (int, float)) and not isinstance(ours, bool)
    return number and math.isclose(ours, x, rel_tol=X_TOLERANCE, abs_tol=1e-12)


def _plain(word: str) -> str:
    return re.sub(r"[^a-z0-9]", "", word.lower())


def other_row(row: Mapping[Any, Any]) -> OtherRow:
    """Return a reference row as it is listed where it meets no value of ours."""
    at = f"{row['x_name']} = {number(row['x'])}" if not math.isnan(row["x"]) else ""
    return OtherRow(
        series=str(row["series"]),
        at=at,
        name=str(row["y_name"]),
        unit=str(row["unit"]),
        cell=_cell(row, num_lines=1),
    )
