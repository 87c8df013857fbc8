"""A task and a stored result made by hand, for tests of what reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from harness.declare.claims import Claim
from harness.declare.experiment import Experiment
from harness.declare.old import flat_claim, old_task
from harness.declare.profiles import Profile
from harness.declare.table import Column, Table
from harness.declare.task import Task
from harness.publish.evidence import Evidence, seals_of
from harness.run.trial import Trial, grid_of
from harness.store.record import Provenance, Record, line_digest
from harness.store.result import TaskResult, build_result

EXPERIMENT = Experiment(
    id="demo/run",
    version=1,
    run=lambda params, ctx: [{"y": 1.0}],
    grid={
        "smoke": lambda: ({"seed": seed} for seed in range(3)),
        "cpu": lambda: ({"seed": seed} for seed in range(3)),
    },
)


def mean(table: pd.DataFrame) -> float:
    """Return the mean of y."""
    return float(table["y"].mean())


def crash(table: pd.DataFrame) -> float:
    raise KeyError("loss")


def make_claim(**changes: Any) -> Claim:
    settings: dict[str, Any] = {
        "id": "c", "statement": "", "where": "", "form": "at_most", "grade": "empirical",
        "quantity": mean, "threshold": 1.0, "threshold_from": "theory", "profiles": ("smoke",),
    }  # fmt: skip
    return flat_claim(**{**settings, **changes})


def make_task(*claims: Claim) -> Task:
    columns = Table(
        (
            Column(name="seed", type="int", role="seed", doc=""),
            Column(name="y", type="float", role="value", doc="", nullable=True),
        )
    )
    return old_task(id="demo/tab01", title="", reads=(EXPERIMENT,), columns=columns, claims=claims)


def make_records(
    task: Task, ys: Sequence[float], *, sealed: Task | None = None, profile: Profile = "smoke"
) -> dict[str, Record]:
    """Return a record per seed, by key, sealed with the claims of `sealed`."""
    seals = seals_of([sealed or task])
    trials = grid_of(EXPERIMENT, profile)
    return {
        trial.key: Record(
            key=trial.key,
            experiment=EXPERIMENT.id,
            version=1,
            profile=profile,
            device="cpu",
            params=dict(trial.params),
            upstream=[],
            status="done",
            rows=[{"y": y}],
            seals=seals,
            provenance=Provenance(
                commit="abc", dirty=False, machine={}, versions={}, data={}, code="x",
                overrides={}, wall_s=1.0, started_at="2024-01-01",
            ),
        )
        for trial, y in zip(trials, ys, strict=True)
    }  # fmt: skip


def make_result(
    task: Task, ys: Sequence[float], *, sealed: Task | None = None, **changes: Any
) -> TaskResult:
    """Return a result of one row per seed, with some fields of its JSON changed."""
    result = build_result(task, "smoke", finder(make_records(task, ys, sealed=sealed)))
    assert result is not None
    return replace(result, meta=result.meta.model_copy(update=changes))


def finder(records: Mapping[str, Record]) -> Callable[[Trial], Record | None]:
    """Return how a result finds a trial's record."""
    return lambda trial: records.get(trial.key)


def evidence(records: Mapping[str, Record]) -> dict[str, Evidence]:
    """Return what records say of themselves."""
    return {
        key: Evidence(
            experiment=record.experiment,
            line=line_digest(record.to_line()),
            seals=record.seals,
            first_seals=record.seals if record.first_seals is None else record.first_seals,
            code=record.provenance.code,
        )
        for key, record in records.items()
    }
