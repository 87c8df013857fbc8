"""Stored results come back as written, and a changed one is refused with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.canonical import digest
from harness.errors import DataError
from harness.store.result import load_result, write_result
from harness.store.workspace import Workspace
from tests.harness.hand_made import make_claim, make_result, make_task

TASK = make_task(make_claim())


@pytest.fixture
def stored(tmp_path: Path) -> tuple[Workspace, Path]:
    workspace = Workspace(tmp_path)
    return workspace, write_result(workspace, TASK, make_result(TASK, [0.1, 0.2, 0.3, 0.4, 0.5]))


def test_result_comes_back_as_written(stored: tuple[Workspace, Path]) -> None:
    made = make_result(TASK, [0.1, 0.2, 0.3, 0.4, 0.5])
    result = load_result(stored[0], TASK, "smoke")
    assert result is not None
    assert result.table.equals(made.table)
    assert result.meta == made.meta
    assert result.csv.encode() == stored[1].read_bytes()


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_half_a_result_is_refused(stored: tuple[Workspace, Path], suffix: str) -> None:
    gone = stored[1].with_suffix(suffix)
    gone.unlink()
    with pytest.raises(DataError, match="missing beside its twin") as caught:
        load_result(stored[0], TASK, "smoke")
    assert str(gone) in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.2", "0.25", "was changed after it was written"),
        ("seed,y", "seed,z", "line 1: the columns are"),
        ("1,0.2\n", "1\n", "line 3: 1 cells, need 2"),
        ("1,0.2\n", "", "was changed"),
        ("\n", "\r\n", "was changed"),
    ],
)
def test_changed_csv_is_refused(
    stored: tuple[Workspace, Path], old: str, new: str, message: str
) -> None:
    text = stored[1].read_bytes().decode()
    assert old in text
    stored[1].write_bytes(text.replace(old, new).encode())
    with pytest.raises(DataError) as caught:
        load_result(stored[0], TASK, "smoke")
    assert message in str(caught.value)
    assert str(stored[1]) in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema_version": 3}'])
def test_damaged_json_is_refused(stored: tuple[Workspace, Path], text: str) -> None:
    beside = stored[1].with_suffix(".json")
    beside.write_text(text)
    with pytest.raises(DataError, match=r"is damaged|is torn"):
        load_result(stored[0], TASK, "smoke")


def test_json_edited_without_its_digest_is_refused(stored: tuple[Workspace, Path]) -> None:
    beside = stored[1].with_suffix(".json")
    beside.write_text(beside.read_text().replace('"dirty": false', '"dirty": true'))
    with pytest.raises(DataError, match="does not match its digest"):
        load_result(stored[0], TASK, "smoke")


def test_result_of_another_task_is_refused(stored: tuple[Workspace, Path]) -> None:
    beside = stored[1].with_suffix(".json")
    body = json.loads(beside.read_text().replace("demo/tab01", "demo/tab02"))
    del body["digest"]
    beside.write_text(json.dumps({**body, "digest": digest(body)}))
    with pytest.raises(DataError, match="demo/tab02"):
        load_result(stored[0], TASK, "smoke")
