"""The draw that nobody makes, outcomes that stay, and how pages tell them."""

from __future__ import annotations

import hashlib
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.declare.table import Column, Table, measured, value
from harness.declare.task import Task
from harness.errors import DataError, RunError
from harness.provenance.code import experiment_code
from harness.provenance.verify import (
    Verification,
    draw,
    keep_verification,
    load_verifications,
    measured_columns,
    stale_keys,
    verifications_path,
    verified_text,
)
from harness.store.trial import Trial
from harness.store.workspace import Workspace
from tests.harness.hand_made import EXPERIMENT
from tests.harness.inline_lab import make_record, tree

EPYC = {"cpu": "AMD EPYC", "isa": "avx512"}
XEON = {"cpu": "Intel Xeon", "isa": "avx2"}
NEW, OLD = "77ef718" + "0" * 33, "c0ffee0" + "0" * 33


def verification(**changes: Any) -> Verification:
    settings: dict[str, Any] = {
        "experiment": "demo/run", "profile": "cpu", "key": "a" * 64, "trial": "demo/run[seed=0]",
        "commit": NEW, "dirty": False, "record_commit": OLD, "machine": EPYC,
        "record_machine": {"cpu": "AMD EPYC"}, "outcome": "bit", "reason": "", "relative": 0.0,
        "column": "", "wall_s": 0.5, "at": "2024-11-22T12:00:00+00:00",
    }  # fmt: skip
    return Verification(**{**settings, **changes})


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def keep(workspace: Workspace, *outcomes: Verification) -> Path:
    for outcome in outcomes:
        keep_verification(workspace, outcome, "cpu")
    return verifications_path(workspace, "demo/run", "cpu")


# The draw


def test_the_draw_follows_commit_experiment_and_key() -> None:
    keys = [str(number) for number in range(20)]
    hashed = {hashlib.sha256(f"{NEW} demo/run {key}".encode()).hexdigest(): key for key in keys}
    expected = [hashed[name] for name in sorted(hashed)][:3]
    assert draw(keys, 3, commit=NEW, experiment_id="demo/run") == expected
    assert draw(keys, 3, commit=OLD, experiment_id="demo/run") != expected
    assert draw(keys, 3, commit=NEW, experiment_id="demo/other") != expected


@given(st.sets(st.text(max_size=5)), st.integers(min_value=1, max_value=30))
def test_the_draw_depends_on_no_order_and_grows(keys: set[str], num: int) -> None:
    found = draw(sorted(keys), num, commit=NEW, experiment_id="demo/run")
    assert found == draw(sorted(keys, reverse=True), num, commit=NEW, experiment_id="demo/run")
    assert len(set(found)) == len(found) == min(num, len(keys))
    assert draw(keys, num + 1, commit=NEW, experiment_id="demo/run")[:num] == found


def test_stale_are_the_records_of_another_code() -> None:
    record = make_record(Trial(EXPERIMENT, {"seed": 0}, "smoke"))
    current = record.provenance.model_copy(update={"code": experiment_code(EXPERIMENT)})
    fresh = record.model_copy(update={"key": "b" * 64, "provenance": current})
    assert stale_keys(EXPERIMENT, [record, fresh], None) == {record.key}
    # Nothing tells the code of a record from before it was noted in today's way.
    old = fresh.model_copy(update={"schema_version": 1})
    assert stale_keys(EXPERIMENT, [old], None) == {old.key}


def test_measured_columns_are_those_of_any_reading_task() -> None:
    def task(word: str, make: Callable[..., Column]) -> Task:
        table = Table.of(make(f"{word}_ms", float, ""))
        return Task(f"demo/{word}", reads=(EXPERIMENT,), table=table)

    assert measured_columns([task("tab01", measured), task("tab02", value)]) == {"tab01_ms"}


# The file


def test_outcomes_are_kept_in_order_and_in_one_file(workspace: Workspace) -> None:
    assert load_verifications(workspace, "demo/run", "cpu") == []
    outcomes = [verification(), verification(outcome="differs", reason="rows", relative=None)]
    path = keep(workspace, *outcomes)
    assert load_verifications(workspace, "demo/run", "cpu") == outcomes
    assert list(tree(workspace.root)) == ["results/demo/verify/run.cpu.jsonl"]
    before = path.read_bytes()
    keep(workspace, verification())
    assert path.read_bytes().startswith(before)
    assert len(path.read_bytes().splitlines()) == 3


@pytest.mark.parametrize("part", [1, 20, 300])
def test_a_torn_last_line_is_passed_over_and_mended(workspace: Workspace, part: int) -> None:
    path = keep(workspace, verification(), verification(reason="ä"))
    whole = path.read_bytes()
    path.write_bytes(whole + whole.splitlines()[1][:part])
    assert len(load_verifications(workspace, "demo/run", "cpu")) == 2
    keep(workspace, verification(column="new"))
    assert path.read_bytes().startswith(whole)
    assert [o.column for o in load_verifications(workspace, "demo/run", "cpu")] == ["", "", "new"]


def test_a_last_line_without_its_end_is_not_lost(workspace: Workspace) -> None:
    path = keep(workspace, verification(), verification(column="last"))
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    assert len(load_verifications(workspace, "demo/run", "cpu")) == 2
    keep(workspace, verification(column="new"))
    found = load_verifications(workspace, "demo/run", "cpu")
    assert [outcome.column for outcome in found] == ["", "last", "new"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (b'"outcome":"bit"', b'"outcome":"fine"', "is no outcome of repro verify"),
        (b'"schema_version":1', b'"schema_version":2', "is no outcome of repro verify"),
        (b'"column":""', b'"colour":""', "is no outcome of repro verify"),
        (b"{", b"", "is no outcome of repro verify"),
        (b"demo/run", b"demo/other", "is of demo/other at cpu"),
        (b'"profile":"cpu"', b'"profile":"gpu"', "is of demo/run at gpu"),
    ],
)
def test_a_damaged_line_is_named(
    workspace: Workspace, old: bytes, new: bytes, problem: str
) -> None:
    path = keep(workspace, *[verification()] * 3)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1].replace(old, new, 1) + lines[2])
    with pytest.raises(DataError, match=rf"run\.cpu\.jsonl line 2 {problem}.*git checkout"):
        load_verifications(workspace, "demo/run", "cpu")


def test_a_file_that_cannot_be_written_is_told_and_stays(workspace: Workspace) -> None:
    (workspace.root / "results").write_text("I am no folder")
    with pytest.raises(RunError, match="cannot write below"):
        keep(workspace, verification())
    assert tree(workspace.root) == {"results": b"I am no folder"}


def _keep_many(root: str, name: str) -> None:
    for number in range(20):
        keep(Workspace(Path(root)), verification(column=f"{name}{number}"))


def test_two_processes_lose_no_line_of_each_other(workspace: Workspace) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [
        context.Process(target=_keep_many, args=(str(workspace.root), name)) for name in "ab"
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    columns = {outcome.column for outcome in load_verifications(workspace, "demo/run", "cpu")}
    assert columns == {f"{name}{number}" for name in "ab" for number in range(20)}


# What pages say


def outcomes(*words: str, **changes: Any) -> list[Verification]:
    return [
        verification(key=str(number), outcome=word, **changes) for number, word in enumerate(words)
    ]


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ([], ""),
        (outcomes("bit", "close", "spread"), "3 of 3 trials run again on AMD EPYC avx512 agree"),
        (outcomes("bit", "differs"), "1 of 2 trials run again on AMD EPYC avx512 agree"),
        (
            outcomes("bit", "not_run", "not_run"),
            "1 of 1 trial run again on AMD EPYC avx512 agrees; 2 more could not run there",
        ),
        (outcomes("not_run"), "no trial could be run again on AMD EPYC avx512"),
        (
            outcomes("bit", dirty=True),
            "1 of 1 trial run again on AMD EPYC avx512, by code that is in no commit, agrees",
        ),
        # A trial counts once, and agrees if it always did; what ran at last is not "not run".
        (outcomes("bit") + outcomes("bit"), "1 of 1 trial run again on AMD EPYC avx512 agrees"),
        (outcomes("differs") + outcomes("bit"), "0 of 1 trial run again on AMD EPYC avx512 agrees"),
        (outcomes("not_run") + outcomes("bit"), "1 of 1 trial run again on AMD EPYC avx512 agrees"),
        (
            outcomes("bit", "differs", machine=XEON, at="2024-01-01")
            + outcomes("bit", commit=OLD, at="2024-01-02")
            + outcomes("bit", "bit"),
            "2 of 2 trials run again on AMD EPYC avx512 agree;"
            " 2 of 3 on other processors or by other code",
        ),
        (
            outcomes("bit") + outcomes("close", machine=XEON, at="2024-12-01"),
            "1 of 1 trial run again on Intel Xeon avx2 agrees;"
            " 1 of 1 on other processors or by other code",
        ),
    ],
)
def test_pages_tell_it_in_one_line(found: list[Verification], text: str) -> None:
    assert verified_text(found) == text
