"""Accuracies of Tables 2 and 5: columns, the table, quantities and claims.

Quantities take the table of one seed, unless they say "whole table". No torch, no pandas at import.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.declare.claims import Claim, Form, Quantity
from harness.declare.old import flat_claim
from harness.declare.profiles import Profile
from harness.declare.statistics import MissingRows
from harness.declare.table import Column, Table
from harness.errors import SpecError
from reproductions.lisa.claims import ON_A_CPU, exact
from reproductions.lisa.models.scored import METHODS, VANILLA

if TYPE_CHECKING:
    import pandas as pd

    from harness.declare.table import Tables

GUESSES = (
    "a model of two million parameters guesses at these benchmarks, and the paper's need their"
    " weights"
)
FLEXIBLE = "exact_match flexible-extract"
"""GSM8K's second metric, which no claim reads."""
PAPER: tuple[Profile, ...] = ("paper",)
COLUMNS = Table(
    (
        Column(name="model", type="str", role="param", doc="What is asked."),
        Column(
            name="method", type="str", role="param",
            doc="How it was fine-tuned; vanilla: not at all.",
        ),
        Column(name="task", type="str", role="param", doc="The benchmark."),
        Column(
            name="metric", type="str", role="param",
            doc="lm-eval's, and its filter of written answers where there is one.",
        ),
        Column(name="seed", type="int", role="seed", doc="Of the fine-tuning."),
        Column(
            name="lr", type="float", role="value", nullable=True,
            doc="Learning rate, of the least validation loss; empty where none was chosen here.",
        ),
        Column(name="accuracy", type="float", role="value", doc="Share of right answers, lm-eval."),
        Column(
            name="stderr", type="float", role="value", nullable=True,
            doc="Its standard error over documents, by lm-eval.",
        ),
        Column(
            name="scorer_accuracy", type="float", role="value",
            doc="The same by the scorer of this project, which needs no lm-eval.",
        ),
        Column(
            name="random_accuracy", type="float", role="value",
            doc="What guessing scores: one over the choices, the mean over documents.",
        ),
        Column(name="num_documents", type="int", role="value", doc="How many were asked."),
        Column(
            name="lm_eval_version", type="str", role="measurement", doc="Version of lm-eval."
        ),
        Column(
            name="task_sha256", type="str", role="value",
            doc="Hash of the task's file and of every prompt and answer that was scored.",
        ),
    )
)  # fmt: skip


def table_of(*tasks: str) -> Callable[[Tables], pd.DataFrame]:
    """Return the view that joins all frames and keeps some benchmarks, methods in one order."""

    def view(frames: Tables) -> pd.DataFrame:
        import pandas as pd

        table = pd.concat([frame for frame in frames.values() if len(frame)], ignore_index=True)
        kept = table[table["task"].isin(tasks)]
        order = {name: place for place, name in enumerate((VANILLA, *METHODS))}
        return kept.sort_values("method", key=lambda names: names.map(order), kind="stable")

    return view


# --- quantities ---


@dataclass(frozen=True, slots=True)
class Cells:
    """The accuracies of a table: by model and benchmark those of each method."""

    values: dict[tuple[str, str], dict[str, tuple[float, float]]]
    """Accuracy and its standard error; of written answers by the strict filter."""

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


def cells_won(table: pd.DataFrame) -> float:
    """Return in how many cells LISA is at most one standard error below the best tuned method.

    A cell is a model with a benchmark; the error is that of the best method's accuracy.
    """
    cells, num_won = cells_of(table), 0
    for cell in cells.values:
        best, error = max(cells.with_error(cell, method) for method in METHODS)
        num_won += best - cells.accuracy(cell, "lisa") <= error
    return float(num_won)


def largest_fall(table: pd.DataFrame) -> float:
    """Return by how much fine-tuning lowers an accuracy at most, over models, tasks, methods."""
    cells = cells_of(table)
    return max(
        cells.accuracy(cell, VANILLA) - cells.accuracy(cell, method)
        for cell in cells.values
        for method in METHODS
    )


def least_lead(table: pd.DataFrame, *, one: str, other: str, task: str) -> float:
    """Return one method's accuracy minus another's, the least over models."""
    cells = cells_of(table[table["task"] == task])
    if not cells.values:
        raise MissingRows(f"the table has no rows of {task}")
    return min(cells.accuracy(cell, one) - cells.accuracy(cell, other) for cell in cells.values)


def largest_disagreement(table: pd.DataFrame) -> float:
    """Return the largest difference of lm-eval's accuracy and our scorer's; whole table."""
    if table.empty:
        raise MissingRows("the table is empty")
    return float((table["accuracy"] - table["scorer_accuracy"]).abs().max())


# --- claims ---


def scorer_agrees(*, where: str) -> Claim:
    """Return the claim that lm-eval and the scorer here count the same answers as right."""
    return exact(
        "scorer_agrees",
        "lm-eval and a scorer of our own that needs no lm-eval give each model the same accuracy"
        " (largest difference).",
        where=where,
        form="equal",
        quantity=largest_disagreement,
        bound=0.0,
        unit="accuracy",
        profiles=ON_A_CPU,
        out_of_profile="in bfloat16 choices often tie, and the order of batches decides",
    )


def of_paper(
    id: str, statement: str, *, where: str, form: Form, quantity: Quantity, bound: float,
    unit: str = "accuracy",
) -> Claim:  # fmt: skip
    """Return an empirical claim on the paper's models, over three seeds."""
    return flat_claim(
        id=id,
        statement=statement,
        where=f"{where}; threshold: ours, see DEV-04",
        form=form,
        grade="empirical",
        quantity=quantity,
        threshold=bound,
        threshold_from="theory",
        profiles=PAPER,
        out_of_profile=GUESSES,
        unit=unit,
    )
