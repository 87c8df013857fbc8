"""A task and a stored result made by hand, for tests of what reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import pandas as pd

from harness.declare.claims import Claim
from harness.declare.criterion import Criterion
from harness.declare.experiment import Experiment, Row, RunContext
from harness.declare.params import Params, doc, seed
from harness.declare.profiles import Profile
from harness.declare.scope import Scope
from harness.declare.table import Table, value
from harness.declare.task import Task
from harness.store.record import Provenance, Record
from harness.store.registered import registrations
from harness.store.result import TaskResult, build_result
from harness.store.trial import Trial, grid_of

FIELDS_OF_CRITERION = {field.name for field in fields(Criterion)}


class Point(Params):
    seed: int = seed("Nothing.")


def grid(profile: Profile) -> Iterator[Point]:
    if profile in ("smoke", "cpu"):
        for number in range(5):
            yield Point(seed=number)


def run(point: Point, ctx: RunContext) -> Sequence[Row]:
    return [{"y": 1.0}]


EXPERIMENT = Experiment("demo/run", version=1, params=Point, grid=grid, run="hand_made:run")


class Named(Params):
    """Parameters of an experiment whose points do not matter."""

    name: str = doc("Nothing.")


def no_grid(profile: Profile) -> Iterator[Named]:
    yield from ()


def unrun(id: str, **changes: Any) -> Experiment:
    """Return an experiment without trials."""
    settings = {"version": 1, "params": Named, "grid": no_grid, "run": "hand_made:run"}
    return Experiment(id, **{**settings, **changes})


def mean(table: pd.DataFrame) -> float:
    """Return the mean of y."""
    return float(table["y"].mean())


def crash(table: pd.DataFrame) -> float:
    raise KeyError("loss")


def make_claim(id: str = "c", *, statement: str = "", where: str = "", **changes: Any) -> Claim:
    """Return a claim at smoke that the mean of y is at most 1.

    changes: fields of its criterion and of its scope.
    """
    criterion = {"form": "at_most", "quantity": mean, "threshold": 1.0, "unit": ""}
    scope = {"grade": "empirical", "threshold_from": "theory", "profiles": ("smoke",)}
    for name, value_of in changes.items():
        (criterion if name in FIELDS_OF_CRITERION else scope)[name] = value_of
    return Claim(
        id=id,
        statement=statement,
        where=where,
        criterion=Criterion(**criterion),  # type: ignore[arg-type]
        scope=Scope(**scope),  # type: ignore[arg-type]
    )


def make_task(*claims: Claim) -> Task:
    table = Table.of(Point, value("y", float, "", nullable=True))
    return Task("demo/tab01", reads=(EXPERIMENT,), table=table, claims=claims)


def make_records(
    task: Task, ys: Sequence[float], *, registered: Task | None = None
) -> dict[str, Record]:
    """Return a record per seed, by key, registered with the claims of `registered`."""
    asked = registrations([registered or task], "smoke")
    trials = grid_of(EXPERIMENT, "smoke")
    return {
        trial.key: Record(
            key=trial.key,
            experiment=EXPERIMENT.id,
            version=1,
            profile="smoke",
            device="cpu",
            params=dict(trial.params),
            upstream=[],
            status="done",
            rows=[{"y": y}],
            registered=asked,
            provenance=Provenance(
                commit="abc", dirty=False, machine={}, versions={}, data={}, code="x",
                overrides={}, wall_s=1.0, started_at="2024-01-01",
            ),
        )
        for trial, y in zip(trials, ys, strict=True)
    }  # fmt: skip


def make_result(
    task: Task, ys: Sequence[float], *, registered: Task | None = None, **changes: Any
) -> TaskResult:
    """Return a result of one row per seed, with some fields of its JSON changed."""
    result = build_result(task, "smoke", finder(make_records(task, ys, registered=registered)))
    assert result is not None
    return replace(result, meta=result.meta.model_copy(update=changes))


def finder(records: Mapping[str, Record]) -> Callable[[Trial], Record | None]:
    """Return how a result finds a trial's record."""
    return lambda trial: records.get(trial.key)
