"""A task and a stored result made by hand, for tests of what reads them."""

from __future__ import annotations

from typing import Any

import pandas as pd

from harness.claims import Claim
from harness.results import ColumnMeta, ProvenanceMeta, ResultMeta, SealMeta, TrialCounts
from harness.seals import seal
from harness.tables import build_table, csv_text, sha256_text
from harness.task import Column, Columns, Experiment, Task

EXPERIMENT = Experiment(
    id="demo/run",
    version=1,
    run=lambda params, ctx: [{"y": 1.0}],
    grid={"smoke": lambda: ({"seed": seed} for seed in range(3))},
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
    return Claim(**{**settings, **changes})


def make_task(*claims: Claim) -> Task:
    columns = Columns(
        (
            Column(name="seed", type="int", role="seed", doc=""),
            Column(name="y", type="float", role="value", doc="", nullable=True),
        )
    )
    return Task(id="demo/tab01", title="", reads=(EXPERIMENT,), columns=columns, claims=claims)


def make_result(
    task: Task, ys: list[float], *, sealed: Task | None = None, **changes: Any
) -> tuple[pd.DataFrame, ResultMeta]:
    """Return a table of one row a seed and its meta data, sealed with the claims of `sealed`."""
    table = build_table(task, {"demo/run": pd.DataFrame({"seed": range(len(ys)), "y": ys})})
    seals = {
        f"{task.id}:{claim.id}": [SealMeta(**seal(claim).to_json(), num_records=len(ys))]
        for claim in (sealed or task).claims
    }
    provenance = ProvenanceMeta(
        commits=["abc"], dirty=False, machines=[], versions={}, data={}, seeds=[0], code=["x"],
        overrides={}, wall_s=1.0, started_at="2024-01-01", finished_at="2024-01-01",
    )  # fmt: skip
    settings: dict[str, Any] = {
        "task": task.id, "profile": "smoke", "csv_sha256": sha256_text(csv_text(table)),
        "num_rows": len(table), "trials": TrialCounts(done=len(ys)), "not_run": [],
        "num_records": len(ys), "seals": seals, "provenance": provenance,
        "columns": [
            ColumnMeta(name=c.name, type=c.type, role=c.role, doc=c.doc, nullable=c.nullable)
            for c in task.columns.columns
        ],
    }  # fmt: skip
    return table, ResultMeta(**{**settings, **changes})
