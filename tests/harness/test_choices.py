"""What code chose by itself reaches the record of its trial, and the JSON of its table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.choices import chose, noted
from harness.store.record import parse_record
from harness.store.result import build_result, json_text
from harness.store.store import RecordStore
from harness.store.trial import grid_of
from harness.store.workspace import Workspace
from tests.harness import inline_lab
from tests.harness.hand_made import finder, make_records, make_task


def test_what_is_chosen_twice_is_told_once_and_what_differs_both() -> None:
    with noted() as outer:
        chose("a", "triton")
        with noted() as inner:
            chose("a", "triton")
            chose("a", "plain")
            chose("b", "cuda")
    chose("c", "triton")
    assert inner == {"a": "triton and plain", "b": "cuda"}
    assert outer == inner


def test_a_record_says_what_its_trial_chose_and_says_nothing_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def choosing(experiment: object, point: inline_lab.Point) -> None:
        if point.x == 1:
            chose("kernels/adamw", "triton")

    monkeypatch.setattr(inline_lab, "note", choosing)
    store = RecordStore(Workspace(tmp_path))
    inline_lab.run_lab(store, "squares")
    found = [store.result(trial) for trial in grid_of(inline_lab.SQUARES, "smoke")]
    records = [record for record in found if record is not None]
    chosen = [record.provenance.choices for record in records]
    assert chosen == [{}, {"kernels/adamw": "triton"}, {}]
    assert ['"choices"' in record.to_line() for record in records] == [False, True, False]
    for record in records:
        assert parse_record(record.to_line(), where="it") == record


def test_a_table_tells_every_choice_that_its_records_made() -> None:
    task = make_task()
    records = make_records(task, [1.0, 2.0, 3.0])
    assert json.loads(text_of(task, records))["provenance"]["choices"] == {}
    for record, choice in zip(records.values(), ("triton", "cuda", "triton"), strict=True):
        record.provenance.choices["kernels/adamw"] = choice
    told = json.loads(text_of(task, records))["provenance"]
    assert told["choices"] == {"kernels/adamw": ["cuda", "triton"]}


def text_of(task: inline_lab.Task, records: dict[str, inline_lab.Record]) -> str:
    result = build_result(task, "smoke", finder(records))
    assert result is not None
    return json_text(result.meta)
