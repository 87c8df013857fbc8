"""What code chose by itself reaches the record of its trial, and the JSON of its table."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.choices import chose, noted
from harness.store.record import parse_record
from harness.store.store import RecordStore
from harness.store.trial import grid_of
from harness.store.workspace import Workspace
from tests.harness import inline_lab


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
        assert parse_record(record.to_line().encode(), where="it") == record
