"""Where the rows of a printed table's cells are found."""

from __future__ import annotations

import pandas as pd

from harness.declare.layout import Layout, Line
from harness.declare.table import matching


def at(layout: Layout, table: pd.DataFrame, row: Line, column: Line) -> pd.DataFrame:
    """Return the rows of a task's table that belong to a place, also those without a value."""
    return matching(table, {**layout.where, **row.where, **column.where})


def found(layout: Layout, table: pd.DataFrame, row: Line, column: Line) -> pd.DataFrame:
    """Return those that have the place's value."""
    return at(layout, table, row, column).dropna(subset=[layout.cell_of(row, column).value])
