"""What the claims on Tables 2 and 5 measure.

Quantities take the table of one seed, unless they say "whole table".
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.declare import Frame, InvalidQuantity, MissingRows, pick
from harness.errors import SpecError
from reproductions.lisa.models.scored import METHODS

FLEXIBLE = "exact_match flexible-extract"
"""GSM8K's second metric, which no claim reads: the strict filter decides written answers."""
CELL = ["model", "task"]


def by_method(table: Frame, *methods: str, value: str = "accuracy") -> Frame:
    """Return a value by method, one row per cell: a model with a benchmark.

    Raises SpecError where a cell has two by one method, MissingRows where it has none, and
    InvalidQuantity where one ended without the value.
    """
    rows = table[table["metric"] != FLEXIBLE]
    if rows.duplicated([*CELL, "method"]).any():
        raise SpecError("a model has two accuracies by one method on a benchmark")
    found = rows.pivot(index=CELL, columns="method", values=value).reindex(columns=list(methods))
    if rows.loc[rows["method"].isin(methods), value].isna().any():
        raise InvalidQuantity(f"a benchmark by one of {', '.join(methods)} ended without {value}")
    if found.isna().any(axis=None):
        raise MissingRows(f"a model lacks the {value} of one of {', '.join(methods)}")
    return found


def leads_but_error(table: Frame) -> list[float]:
    """Return LISA's accuracy minus the best tuned method's, plus one standard error, per cell.

    The error is that of the best method's accuracy. The best is taken within the seed, which can
    only lower the lead.
    """
    accuracies = by_method(table, *METHODS)
    errors = by_method(table, *METHODS, value="stderr")
    bests = (
        max(zip(found, of_found, strict=True))
        for found, of_found in zip(accuracies.to_numpy(), errors.to_numpy(), strict=True)
    )
    pairs = zip(accuracies["lisa"], bests, strict=True)
    return [float(lisa - best + error) for lisa, (best, error) in pairs]


def leads(table: Frame, *, one: str, other: str, tasks: Sequence[str]) -> list[float]:
    """Return one method's accuracy minus another's, per benchmark and model."""
    parts = (by_method(pick(table, task=task), one, other) for task in tasks)
    return [float(lead) for found in parts for lead in found[one] - found[other]]


def largest_disagreement(table: Frame) -> float:
    """Return the largest difference of lm-eval's accuracy and our scorer's; whole table."""
    if table.empty:
        raise MissingRows("the table is empty")
    return float((table["accuracy"] - table["scorer_accuracy"]).abs().max())
