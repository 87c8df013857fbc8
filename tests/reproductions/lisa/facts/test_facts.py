"""Sizes of models and data sets: counted against what others say, and the claims on them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd

from harness.data.codec import Content
from harness.data.load import load
from harness.declare.reference import load_reference
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.store.table_csv import build_table
from reproductions.lisa.facts import tab14, tab15
from reproductions.lisa.facts.experiment import Count, Model, datasets, models
from reproductions.lisa.facts.trial import count, dataset_row, model_row
from tests.reproductions.lisa.made import FOLDER, Case
from tests.verdicts import decide

CTX: Any = SimpleNamespace(dataset=load)
COUNTS = datasets.params_of("cpu")
TASKS = (tab14.task, tab15.task)
RECORDS = [{"split": "test", "subject": "law"}, {"split": "dev", "subject": "law"},
           {"split": "test", "subject": "art"}]  # fmt: skip


def facts_row(name: str) -> Any:
    """Return the one row of a model."""
    (row,) = model_row(Model(model=name), CTX)
    return row


def size_row(point: Any) -> Any:
    """Return the one row of a count."""
    (row,) = dataset_row(Count.from_json(point), CTX)
    return row


def content(value: Any) -> Content:
    return Content("made-up", "bundled", "", value)


def test_records_and_distinct_values_are_counted() -> None:
    made = content(RECORDS)
    assert count(made, kept="all", field="") == 3
    assert count(made, kept="split=test", field="") == 2
    assert count(made, kept="split=dev", field="subject") == 1
    assert count(made, kept="all", field="subject") == 2


def test_arrays_are_counted_by_their_first_axis() -> None:
    (point,) = datasets.params_of("smoke")
    row = size_row(point)
    assert row == {"num_counted": 1797, "num_records": 1797, "catalogue_records": 1797}


def model_frame(case: Case) -> pd.DataFrame:
    """Fails: a block has one parameter too few by the closed form."""
    rows = [{**point, **facts_row(str(point["model"]))} for point in models.params_of("cpu")]
    frame = pd.DataFrame(rows).assign(status="done")
    if case == "fails":
        frame["closed_form_block_params"] -= 1
        frame["outside_params"] += 1
    return frame


def dataset_frame(case: Case) -> pd.DataFrame:
    """Holds: the paper's sizes. Fails: one record more than both paper and catalogue say."""
    reference = load_reference(FOLDER, "tab15").set_index(["series", "y_name"])["value"]
    rows = []
    for point in COUNTS:
        size = int(reference[point["dataset"], point["counted"]]) if point["source"] else None
        off = 1 if case == "fails" else 0
        sizes = {"num_counted": size, "num_records": size, "catalogue_records": size}
        if size is not None:
            sizes |= {"num_counted": size + off, "num_records": size + off}
        rows.append({**point, **sizes, "status": "done"})
    return pd.DataFrame(rows)


def table_of(task: Task, case: Case) -> pd.DataFrame:
    frames = {"lisa/models": model_frame, "lisa/datasets": dataset_frame}
    return build_table(task, {e.id: frames[e.id](case) for e in task.reads})


def test_a_data_set_that_is_not_at_hand_decides_nothing() -> None:
    task = TASKS[1]
    table = table_of(task, "holds")
    table.loc[table["dataset"] == "GSM8K", "num_counted"] = None
    words = {claim.id: decide(task, claim, table).word for claim in task.claims}
    assert words["sizes_as_printed"] is Word.UNTESTED
    assert words["catalogue_is_right"] is Word.HOLDS
