"""What the claims on Tables 2 and 5 measure.

Quantities take the table of one seed, unless they say "whole table".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.declare import MissingRows, pick
from harness.errors import SpecError
from reproductions.lisa.models.scored import METHODS

if TYPE_CHECKING:
    import pandas as pd

FLEXIBLE = "exact_match flexible-extract"
"""GSM8K's second metric, which no claim reads."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The accuracies of a table."""

    values: dict[tuple[str, str], dict[str, tuple[float, float]]]
    """By model and benchmark each method's accuracy and standard error; the strict filter decides
    written answers."""

    def accuracy(self, cell: tuple[str, str], method: str) -> float:
        """Return an accuracy. Raises MissingRows where there is none."""
        return self.with_error(cell, method)[0]

    def with_error(self, cell: tuple[str, str], method: str) -> tuple[float, float]:
        """Return an accuracy and its standard error. Raises MissingRows where there is none."""
        found = self.values[cell].get(method)
        if found is None:
            raise MissingRows(f"{cell[1]}: {cell[0]} has no accuracy by {method}")
        return found


def cells_of(table: pd.DataFrame) -> Cells:
    """Return a table's accuracies. Raises SpecError where a cell has two by one method."""
    values: dict[tuple[str, str], dict[str, tuple[float, float]]] = {}
    for row in table[table["metric"] != FLEXIBLE].itertuples():
        methods = values.setdefault((row.model, row.task), {})
        if row.method in methods:
            raise SpecError(f"{row.task}: {row.model} by {row.method} has two accuracies")
        methods[row.method] = (float(row.accuracy), float(row.stderr))
    return Cells(values)


def leads_but_error(table: pd.DataFrame) -> list[float]:
    """Return LISA's accuracy minus the best tuned method's, plus one standard error, per cell.

    A cell is a model with a benchmark; the error is that of the best method's accuracy. The best
    is taken within the seed, which can only lower the lead.
    """
    cells, leads = cells_of(table), []
    for cell in cells.values:
        best, error = max(cells.with_error(cell, method) for method in METHODS)
        leads.append(cells.accuracy(cell, "lisa") - best + error)
    return leads


def leads(table: pd.DataFrame, *, one: str, other: str, tasks: Sequence[str]) -> list[float]:
    """Return one method's accuracy minus another's, per benchmark and model."""
    parts = [cells_of(pick(table, task=task)) for task in tasks]
    return [
        cells.accuracy(cell, one) - cells.accuracy(cell, other)
        for cells in parts
        for cell in cells.values
    ]


def largest_disagreement(table: pd.DataFrame) -> float:
    """Return the largest difference of lm-eval's accuracy and our scorer's; whole table."""
    if table.empty:
        raise MissingRows("the table is empty")
    return float((table["accuracy"] - table["scorer_accuracy"]).abs().max())
