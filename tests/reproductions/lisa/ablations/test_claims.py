"""Claims on LISA's own settings: where they hold, fail, or their control does not."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import pandas as pd

from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.store.table_csv import build_table
from reproductions.lisa.ablations import ablations
from reproductions.lisa.ablations.experiment import settings
from tests.reproductions.lisa.made import Case, decide

TASKS = (ablations.task,)
START = 5.0
GAMMA = {"holds": {0: 4.2, 2: 4.0, 4: 3.9}, "fails": {0: 3.9, 2: 4.0, 4: 4.2}}
PERIOD = {"holds": {1: 4.1, 25: 4.01, 122: 4.3}, "fails": {25: 4.5, 122: 3.5}}
POLICY = {
    "holds": {"keep_all": 4.0, "reset_all": 4.1},
    "fails": {"keep_all": 3.5, "reset_all": 3.5},
}


def rows_of(point: Mapping[str, Any], case: Case) -> list[dict[str, Any]]:
    usual = GAMMA[case].get(point["gamma"], 3.8)
    end = PERIOD[case].get(point["period"], usual) + 0.001 * (point["seed"] % 10)
    end = POLICY[case].get(point.get("policy", ""), end)
    told = (
        ("test", 0, START),
        ("train", 1, START),
        ("train", 122, end),
        ("test", 122, end),
        ("validation", 122, end),
    )
    return [
        {**point, "status": "done", "split": split, "step": step, "loss": loss, "accuracy": 0.5}
        for split, step, loss in told
    ]


@cache
def frame(case: Case) -> pd.DataFrame:
    points = settings.params_of("cpu")
    return pd.DataFrame([row for point in points for row in rows_of(point, case)])


def table_of(task: Task, case: Case) -> pd.DataFrame:
    return build_table(task, {settings.id: frame(case)})


def test_settings_that_differ_in_policy_alone_are_told_apart() -> None:
    table = table_of(ablations.task, "holds")
    assert len(table) == len(settings.params_of("cpu")) == 130
    assert table.groupby("policy").size().to_dict() == {
        "drop_refrozen": 110, "keep_all": 10, "reset_all": 10,
    }  # fmt: skip


def test_nothing_is_judged_where_full_training_teaches_nothing() -> None:
    table = table_of(ablations.task, "holds")
    weak = table.assign(test_loss=table["test_loss"].mask(table["method"] == "full", 4.9))
    assert {decide(ablations.task, claim, weak).word for claim in ablations.task.claims} == {
        Word.UNTESTED
    }
