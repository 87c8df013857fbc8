"""Committed trials run again: how they agree, what they start from, and what cannot run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.declare.experiment import Experiment, Needs
from harness.run.executors.inline import InlineExecutor
from harness.run.runner import Runner, Summary
from harness.run.verify import (
    ABSOLUTE,
    RELATIVE,
    Drawn,
    Outcome,
    compare,
    compare_rows,
    draw_trials,
    keep,
    load_verified,
    obstacle,
    relative_difference,
    rerun,
    rerun_plan,
)
from harness.store.record import Record
from harness.store.store import RecordStore
from harness.store.trial import Trial, grid_of
from harness.store.workspace import Workspace
from tests.harness import inline_lab
from tests.harness.hand_made import EXPERIMENT
from tests.harness.inline_lab import (
    BASE,
    FACTS,
    HEAD,
    LIMITS,
    SQUARES,
    Silent,
    make_record,
    run_lab,
    tree,
)


def record(seed: int, *ys: float | None, status: str = "done", note: str = "") -> Record:
    trial = Trial(EXPERIMENT, {"seed": seed}, "smoke")
    made = make_record(trial, status=status, rows=[{"y": y} for y in ys])
    return made.model_copy(update={"note": note})


# Rows


def test_the_largest_difference_and_its_column_are_told() -> None:
    old = [{"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 1.0}]
    new = [{"a": 1.0 + 1e-7, "b": 1.0}, {"a": 1.0, "b": 1.0 - 1e-5}]
    found = compare_rows(old, new)
    assert (found["outcome"], found["column"]) == ("close", "b")
    assert found["relative"] == pytest.approx(1e-5)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ({"n": 10_000_000}, {"n": 10_000_001}, "row 0 n: 10000000 then, 10000001 now"),
        ({"n": 2}, {"n": 2.0}, "row 0 n: 2 then, 2.0 now"),
        ({"n": True}, {"n": 1}, "row 0 n: True then, 1 now"),
        ({"n": 1.0}, {"n": None}, "row 0 n: 1.0 then, None now"),
        ({"n": "a"}, {"n": "b"}, "row 0 n: 'a' then, 'b' now"),
        ({"n": 1.0}, {}, "row 0 n: 1.0 then, 'absent' now"),
        ({}, {"n": 1.0}, "row 0 n: 'absent' then, 1.0 now"),
    ],
)
def test_all_but_floats_must_be_equal(
    old: dict[str, Any], new: dict[str, Any], reason: str
) -> None:
    found = compare_rows([old], [new])
    assert (found["outcome"], found["reason"]) == ("differs", reason)


numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)


@given(numbers, numbers)
def test_the_limit_is_that_of_isclose(old: float, new: float) -> None:
    found = relative_difference(old, new)
    assume(abs(found / RELATIVE - 1.0) > 1e-9)
    assert found == relative_difference(new, old)
    assert (found <= RELATIVE) == math.isclose(old, new, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


# Records


@pytest.mark.parametrize(
    ("new", "word", "reason"),
    [
        (record(0, 1.0, status="diverged"), "differs", "done then, diverged now"),
        (record(0, 1.0, 2.0), "differs", "1 rows then, 2 now"),
        (record(0, status="skipped", note="needs demo/base"), "not_run", "needs demo/base"),
        (record(0, status="failed", note="/srv/me/net.bin"), "differs", "done then, failed now"),
    ],
)
def test_another_end_is_told_without_a_folder(new: Record, word: str, reason: str) -> None:
    found = compare(record(0, 1.0), new, measured=())
    assert (found["outcome"], found["reason"]) == (word, reason)


# Runs


@pytest.fixture(autouse=True)
def no_faults() -> Iterator[None]:
    yield
    inline_lab.faults.clear()


@pytest.fixture
def store(tmp_path: Path) -> RecordStore:
    """Return the records of a checkout in which everything is packed at `cpu`."""
    store = RecordStore(Workspace(tmp_path / "checkout"))
    run_lab(store, "squares", "head")
    for experiment in (SQUARES, BASE, HEAD):
        store.pack(experiment.id, "cpu", grid_of(experiment, "cpu"))
    inline_lab.calls.clear()
    return store


def drawn_of(store: RecordStore, experiment: Experiment, num: int = 10) -> list[Drawn]:
    return draw_trials(store.workspace, experiment, "cpu", num, commit="c0ffee")


def run_again(drawn: Sequence[Drawn]) -> tuple[dict[str, Outcome], Summary, Runner]:
    plan, outcomes = rerun_plan(drawn, "cpu", LIMITS)
    runners: list[Runner] = []
    summary, compared = rerun(
        drawn, plan, inline_lab.make_library(), InlineExecutor(), Silent(),
        facts=FACTS, on_start=runners.append,
    )  # fmt: skip
    return {each.trial: each for each in [*outcomes, *compared]}, summary, runners[0]


def test_upstream_trials_run_again_and_are_not_counted(store: RecordStore) -> None:
    before = tree(store.workspace.root)
    found, summary, runner = run_again(drawn_of(store, HEAD, 1))
    assert [outcome.outcome for outcome in found.values()] == ["bit"]
    assert summary.num_run == len(inline_lab.calls) == 2
    assert inline_lab.calls[0].startswith("lab/base[")
    # They ran elsewhere, and nothing of it is left.
    assert tree(store.workspace.root) == before
    assert not runner.store.workspace.root.exists()


def test_the_commit_draws(store: RecordStore) -> None:
    keys = [each.record.key for each in drawn_of(store, SQUARES)]
    assert [each.record.key for each in drawn_of(store, SQUARES, 2)] == keys[:2]
    other = draw_trials(store.workspace, SQUARES, "cpu", 10, commit="another")
    assert {each.record.key for each in other} == set(keys)
    assert [each.record.key for each in other] != keys


def test_a_trial_whose_upstream_fails_is_not_run(store: RecordStore) -> None:
    inline_lab.faults["lab/base[x=0 seed=0]"] = ValueError("/srv/somebody")
    found, summary, _ = run_again(drawn_of(store, HEAD))
    lost = found["lab/head[x=0 k=5 seed=0]"]
    assert (lost.outcome, lost.reason) == ("not_run", "needs lab/base[x=0 seed=0], which failed")
    assert found["lab/head[x=1 k=5 seed=0]"].outcome == "bit"
    assert len(summary.failed) == 2


def test_an_interrupt_leaves_what_was_compared(store: RecordStore) -> None:
    drawn = drawn_of(store, SQUARES, 3)
    inline_lab.faults[drawn[1].trial.name] = KeyboardInterrupt()
    found, summary, runner = run_again(drawn)
    assert summary.interrupted and list(found) == [drawn[0].trial.name]
    assert not runner.store.workspace.root.exists()


# What cannot run here


@pytest.mark.parametrize(
    ("needs", "reason"),
    [
        (Needs(), ""),
        (
            Needs(device="cuda"),
            "needs a CUDA GPU: `make gpu` on a machine with one",
        ),
        (Needs(memory_bytes=2**40), "needs 1.02e+03 GiB, has 16 GiB"),
        (
            Needs(packages=("nosuchthing",)),
            "needs the package nosuchthing: pip install nosuchthing",
        ),
        (Needs(data=("mnist",)), "data set mnist is missing: repro data make mnist"),
    ],
)
def test_what_is_lacking_upstream_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, needs: Needs, reason: str
) -> None:
    monkeypatch.setenv("REPRO_DATA", str(tmp_path / "nowhere"))
    base = replace(BASE, needs=needs)
    head = replace(HEAD, uses=(replace(HEAD.uses[0], experiment=base),))
    trial = Trial(head, {"x": 0, "k": 5, "seed": 0}, "cpu")
    found = obstacle(Drawn(trial, make_record(trial)), LIMITS)
    assert found == (f"lab/base[x=0 seed=0]: {reason}" if reason else "")


def test_a_record_of_what_is_no_longer_declared_is_not_run() -> None:
    trial = grid_of(HEAD, "cpu")[0]
    other = make_record(trial).model_copy(update={"key": "0" * 64})
    assert obstacle(Drawn(trial, other), LIMITS).startswith("its version, data or upstream")


# What is kept


def outcome(trial: str, word: Any) -> Outcome:
    return Outcome(experiment="lab/a", trial=trial, outcome=word)


def test_a_line_per_processor_adds_up(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    first = [outcome("a", "bit"), outcome("b", "differs"), outcome("c", "not_run")]
    keep(workspace, "lab", first, cpu="B", commit="1")
    keep(workspace, "lab", [outcome("a", "close"), outcome("d", "differs")], cpu="B", commit="2")
    keep(workspace, "lab", [outcome("a", "bit")], cpu="A", commit="2")
    keep(workspace, "lab", [outcome("a", "not_run")], cpu="C", commit="2")
    found = [
        (line.cpu, line.num_trials, line.num_agree, line.differ, line.commit)
        for line in load_verified(workspace, "lab")
    ]
    assert found == [("A", 1, 1, [], "2"), ("B", 4, 2, ["b", "d"], "2")]
