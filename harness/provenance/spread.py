"""How far claims' samples move when one trial's record is replaced by another.

Less than their seeds spread is little: whoever ran other seeds would have seen as much.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.declare.verdict import samples_per_seed
from harness.provenance.agreement import RELATIVE, Spread, size_of
from harness.run.trial import Trial, cohorts_of
from harness.store.record import Record
from harness.store.result import trials_of
from harness.store.table_csv import build_table, long_frame

if TYPE_CHECKING:
    import pandas as pd


class Tables:
    """The tables of tasks in a profile, built from the committed records once."""

    def __init__(self, find: Callable[[Trial], Record | None], profile: Profile) -> None:
        """find: returns the committed record of a trial."""
        self.find, self.profile = find, profile
        self._records: dict[tuple[str, str], list[Record]] = {}
        self._committed: dict[str, dict[str, pd.DataFrame]] = {}

    def committed(self, task: Task) -> dict[str, pd.DataFrame]:
        """Return a task's tables by cohort, without those that have no record."""
        if task.id not in self._committed:
            cohorts = cohorts_of(task, self.profile)
            self._committed[task.id] = {
                cohort: _build(task, records)
                for cohort in cohorts
                if (records := self._records_of(task, cohort))
            }
        return self._committed[task.id]

    def changed(self, task: Task, new: Record) -> dict[str, pd.DataFrame]:
        """Return the tables in which a trial occurs, with its new record in the old one's place."""
        changed = {}
        for cohort in self.committed(task):
            records = self._records_of(task, cohort)
            if any(record.key == new.key for record in records):
                in_place = (new if record.key == new.key else record for record in records)
                changed[cohort] = _build(task, in_place)
        return changed

    def _records_of(self, task: Task, cohort: str) -> list[Record]:
        if (task.id, cohort) not in self._records:
            found = (self.find(t) for t in trials_of(task, self.profile, cohort=cohort))
            self._records[task.id, cohort] = [r for r in found if r is not None and r.is_result]
        return self._records[task.id, cohort]


def _build(task: Task, records: Iterable[Record]) -> pd.DataFrame:
    groups: dict[str, list[Record]] = {experiment.id: [] for experiment in task.reads}
    for record in records:
        groups[record.experiment].append(record)
    return build_table(task, {name: long_frame(group) for name, group in groups.items()})


def spread_of(tasks: Iterable[Task], tables: Tables, new: Record) -> Spread:
    """Judge the claims of the tasks that read a trial, its new record in the old one's place."""
    judged = [found for task in tasks if (found := _moves(task, tables, new)) is not None]
    if not judged:
        return Spread(within=False, reason=f"no claim at {tables.profile} rests on it")
    moves = [move for found in judged for move in found]
    if not moves:
        return Spread(within=True, reason="no claim's sample moves")
    worst = max(moves, key=lambda move: move.share)
    return Spread(within=worst.share < 1.0, reason=worst.text)


@dataclass(frozen=True, slots=True)
class _Move:
    """How far a claim's sample moved: as a share of what it may, and in words."""

    share: float
    text: str


def _moves(task: Task, tables: Tables, new: Record) -> list[_Move] | None:
    """Return how a task's claims move; None where none is decided, or no table has the trial."""
    found = [claim for claim in task.claims if tables.profile in claim.scope.profiles]
    if not found:
        return None
    try:
        before, after = tables.committed(task), tables.changed(task, new)
    except Exception as error:  # noqa: BLE001 - whatever a view raises is why nothing can be judged
        return [_Move(math.inf, f"{task.id} cannot be rebuilt: {type(error).__name__}")]
    if not after:
        return None
    return [
        move
        for cohort, table in after.items()
        for claim in found
        for move in _claim_moves(
            f"{task.id}:{claim.id}",
            _samples(task, claim, before[cohort]),
            _samples(task, claim, table),
        )
    ]


def _samples(task: Task, claim: Claim, table: pd.DataFrame) -> list[list[float]] | str:
    """Return a claim's numbers per seed, or why it has none on this table."""
    try:
        return samples_per_seed(claim, table, task.table.seed)
    except Exception as error:  # noqa: BLE001 - whatever a quantity raises is why it has none
        return f"{type(error).__name__}: {error}"


def _claim_moves(
    name: str, old: list[list[float]] | str, new: list[list[float]] | str
) -> Iterator[_Move]:
    """Yield each number of each seed that differs."""
    if old == new:
        return
    if isinstance(old, str) or isinstance(new, str):
        told = [samples if isinstance(samples, str) else "a number" for samples in (old, new)]
        yield _Move(math.inf, f"{name} is {told[0]} then, {told[1]} now")
        return
    if len(old) != len(new) or len({len(sample) for sample in [*old, *new]}) > 1:
        yield _Move(math.inf, f"{name} has other seeds or steps")
        return
    spreads = [_deviation(values) for values in zip(*old, strict=True)]
    for before, after in zip(old, new, strict=True):
        for left, right, spread in zip(before, after, spreads, strict=True):
            if left == right:
                continue
            moved, limit = abs(left - right), max(spread, RELATIVE * size_of(left, right))
            text = f"{name} moves by {moved:.2g}, its seeds spread by {spread:.2g}"
            # Infinite sides have no distance that could be small.
            yield _Move(moved / limit if math.isfinite(moved) else math.inf, text)


def _deviation(values: Sequence[float]) -> float:
    """Return the standard deviation over seeds; 0 where it cannot be told."""
    told = len(values) > 1 and all(map(math.isfinite, values))
    return statistics.stdev(values) if told else 0.0
