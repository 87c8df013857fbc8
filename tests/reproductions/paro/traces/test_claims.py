"""Claims on orders: where they hold, fail, or lack rows; events are made up, ranks run nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.task import Task
from harness.store.table_csv import build_table
from reproductions.paro.traces import trial
from reproductions.paro.traces.experiment import Gather, Step, traced_gathers, traced_steps
from reproductions.paro.traces.fig01 import task as step_task
from reproductions.paro.traces.fig02 import task as gather_task
from tests.reproductions.paro.tables import CTX
from tests.verdicts import judge

UNITS = ["rest", "a", "b"]
Events = list[dict[str, Any]]


def event(work: str, **more: Any) -> dict[str, Any]:
    return {"work": work, "start_s": 0.0, "end_s": 1.0, "units": [], "term": "", "num_bytes": 8,
            "part": -1, "to": -1, "collective": None, **more}  # fmt: skip


def collective(name: str, units: list[str]) -> dict[str, Any]:
    term, kind, scope = name.replace(":", "").split()
    return event("collective", term=term, units=units, collective={"kind": kind, "scope": scope})


GATHER, REDUCE = "param: all_gather intra", "gradient: reduce_scatter intra"
SYNC = "sync_g: reduce_scatter inter"
BY_HAND = {
    "IIG": ([GATHER, GATHER, REDUCE], SYNC, "sync_p: all_gather inter"),
    "NIG": ([REDUCE], SYNC, "sync_p: all_gather world"),
}


def steps_of(*, right: bool) -> list[dict[str, Events]]:
    """Return what four ranks noted. Wrong: the last one updates before gradients are there."""
    ranks = []
    for rank in range(4):
        found = {}
        for letters, (passes, before, after) in BY_HAND.items():
            events = [
                collective(name, [unit]) for _ in range(2) for name in passes for unit in UNITS
            ]
            boundary = [collective(before, UNITS), event("optimizer")]
            if rank == 3 and not right:
                boundary.reverse()
            found[letters] = [event("forward", units=["a"]), *events, *boundary,
                              collective(after, UNITS)]  # fmt: skip
        ranks.append(found)
    return ranks


def gathers_of(n: int, m: int, *, right: bool) -> list[Events]:
    """Return the messages of n ranks. Wrong: the first stage is the last, and a part is lost."""
    g = n // m
    ranks = []
    for rank in range(n):
        group, local = divmod(rank, m)
        stages = []
        for k in range(g):
            row = (group - k) % g * m
            between = [event("message", part=row + local, to=(rank + m) % n)] if k < g - 1 else []
            within = [event("message", part=row + (local - hop) % m, to=group * m + (local + 1) % m)
                      for hop in range(m - 1)]  # fmt: skip
            stages.append(between + within)
        if not right:
            stages = [stages[-1], *stages[1:-1], stages[0]]
            if stages[-1] and rank == 0:
                stages[-1][0] = {**stages[-1][0], "part": 1}
        ranks.append([each for stage in stages for each in stage])
    return ranks


@cache
def table_of(task: Task, *, right: bool) -> pd.DataFrame:
    with pytest.MonkeyPatch.context() as monkeypatch:
        return made(task, monkeypatch, right=right)


def made(task: Task, monkeypatch: pytest.MonkeyPatch, *, right: bool) -> pd.DataFrame:
    rows = []
    if task is step_task:
        monkeypatch.setattr(trial, "on_ranks", lambda *_, **__: steps_of(right=right))
        experiment, run, kind = traced_steps, trial.step_rows, Step
    else:
        experiment, run, kind = traced_gathers, trial.gather_rows, Gather  # type: ignore[assignment]
    run_: Callable[..., Any] = run
    for point in experiment.params_of("cpu"):
        if task is gather_task:
            found = gathers_of(int(point["num_ranks"]), int(point["group_size"]), right=right)
            monkeypatch.setattr(trial, "on_ranks", lambda *_, found=found, **__: found)
        rows += [{**point, **row, "status": "done"} for row in run_(kind.from_json(point), CTX)]
    return build_table(task, {experiment.id: pd.DataFrame(rows)})


@pytest.mark.parametrize(
    ("task", "claim"),
    [pytest.param(task, claim, id=claim.id) for task in (step_task, gather_task)
     for claim in task.claims],
)  # fmt: skip
def test_claim_holds_fails_and_needs_its_rows(task: Task, claim: Claim) -> None:
    judge(task, claim, holds=table_of(task, right=True), fails=table_of(task, right=False))
