"""Tables of tasks whose trials are arithmetic: made afresh, and spoilt."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from harness.declare.claims import Claim
from harness.declare.experiment import Experiment
from harness.declare.params import Params
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.store.table_csv import build_table
from tests.verdicts import controlled

CTX: Any = None
"""Of trials that ask nothing of it."""
Spoil = Callable[[pd.DataFrame], pd.DataFrame]
"""From a table on which a claim holds to one on which it does not."""


def rows_of(experiment: Experiment, points: Iterable[Params]) -> pd.DataFrame:
    """Return the long table of some trials, run in this process."""
    run = experiment.code
    return pd.DataFrame(
        {**point.to_json(), **row, "status": "done"} for point in points for row in run(point, CTX)
    )


def table_of(task: Task, points: dict[str, list[Params]] | None = None) -> pd.DataFrame:
    """Return a task's table; points: by experiment which trials, else those of cpu."""
    chosen = points or {}
    frames = {
        each.id: rows_of(each, chosen.get(each.id) or list(each.grid("cpu"))) for each in task.reads
    }
    return build_table(task, frames)


def put(column: str, number: float | str, **where: object) -> Spoil:
    """Return what puts a value into the first row that fits."""

    def spoil(table: pd.DataFrame) -> pd.DataFrame:
        fits = pd.Series(True, index=table.index)
        for name, wanted in where.items():
            fits &= table[name] == wanted
        spoilt = table.copy()
        spoilt.loc[fits[fits].index[0], column] = number
        return spoilt

    return spoil


def word(claim: Claim, table: pd.DataFrame, *, seed: str | None = None) -> Word:
    """Return a claim's verdict."""
    return controlled(claim, table, seed=seed).word
