"""Render a task's table: as the paper prints it, or in its long form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from harness.declare.profiles import Profile
from harness.declare.statistics import mean_and_error
from harness.declare.table import Column, Frame, Table
from harness.declare.task import Task
from harness.publish.report.cell_text import ROUNDING, other_row
from harness.publish.report.formats import as_csv, as_latex, as_markdown, as_text
from harness.publish.report.printed import (
    Head,
    Place,
    Printed,
    PrintedTable,
    print_tables,
    print_without_run,
)
from harness.publish.report.text import mean_sem, number
from harness.publish.stand_ins import ran_on, ran_on_sentence

TableFormat = Literal["text", "markdown", "latex", "csv"]
FORMATS: dict[TableFormat, Callable[[Printed], str]] = {
    "text": as_text, "markdown": as_markdown, "latex": as_latex, "csv": as_csv
}  # fmt: skip
TABLE_FORMATS = tuple(FORMATS)
NO_VALUE = "no value"
"""What our cell says where every seed lacks a value (all runs diverged)."""


def table_as(
    fmt: TableFormat,
    task: Task,
    table: Frame,
    reference: Frame,
    *,
    title: str,
    profile: Profile,
    stands_in: Mapping[str, str],
    long: bool = False,
    aside: str = "",
) -> str:
    """Return a task's table as the paper prints it; the long form where it has no layout.

    stands_in: by a name of the paper what was run in its place; long: a line per grid point, mean
    and standard error over seeds, the paper's values below; aside: what sets the table apart from
    the committed one.
    """
    here = ran_on(stands_in)
    named = f"{title} ({aside})" if aside else title
    named = f"{named}. {ran_on_sentence(stands_in)}" if here else named
    content = None if long or not task.layouts else print_tables(task, table, reference)
    # What a variant overrides may be what the layout names: then nothing of it would be shown.
    if content is None or (aside and not content.has_ours):
        # A CSV has neither title nor list.
        more = {"run": aside, "ran_on": here} if fmt == "csv" else {}
        others = [] if fmt == "latex" else map(other_row, reference.to_dict("records"))
        content = Printed(
            name=task.id, tables=(long_form(task.table, table, more),), others=tuple(others)
        )
    return FORMATS[fmt](replace(content, title=named, where=f"profile {profile}", aside=aside))


def paper_alone_as(fmt: TableFormat, task: Task, reference: Frame, *, title: str) -> str:
    """Return the paper's values of a task that was not run; empty where there is none to print."""
    content = print_without_run(task, reference)
    return FORMATS[fmt](replace(content, title=title, where="not run here")) if content else ""


def long_form(columns: Table, table: Frame, more: Mapping[str, str]) -> PrintedTable:
    """Return a line per grid point: parameters, the number of seeds, then means with their errors.

    more: what further columns say in every line, where it is not empty.
    """
    keys = [column.name for column in columns.columns if column.role == "param"]
    values = [column for column in columns.columns if column.role in ("value", "measurement")]
    seeded, kept = columns.seed is not None, {name: what for name, what in more.items() if what}
    header = [*keys, *(["seeds"] if seeded else []), *(value.name for value in values), *kept]
    points: dict[tuple[Any, ...], list[dict[Any, Any]]] = {}
    # A missing parameter equals no other, not even itself; of None it holds.
    for row in table.astype(object).where(table.notna(), None).to_dict("records"):
        points.setdefault(tuple(row[key] for key in keys), []).append(row)
    rows = [
        [*map(_key, point), *([str(len(found))] if seeded else [])]
        + [_ours([row[value.name] for row in found], value, seeded=seeded) for value in values]
        + [*kept.values()]
        for point, found in points.items()
    ]
    return PrintedTable(
        corner=header[0],
        columns=tuple(map(Head, header[1:])),
        rows=tuple(Head(row[0]) for row in rows),
        places=tuple(tuple(Place(ours=text) for text in row[1:]) for row in rows),
    )


def _key(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, float) else str(value)


def _ours(cells: Sequence[Any], value: Column, *, seeded: bool) -> str:
    """Return our value at a grid point, whose seeds have these cells."""
    known = [cell for cell in cells if cell is not None]
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
