"""Committed trials run again: how they agree, what they start from, and what cannot run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.declare.experiment import Experiment, Needs
from harness.run.plan import Action, plan_trials
from harness.run.runner import Summary
from harness.run.verify import (
    Drawn,
    Outcome,
    compare,
    compare_drawn,
    draw_trials,
    keep,
    load_verified,
)
from harness.store.record import Record
from harness.store.store import RecordStore
from harness.store.trial import Trial, grid_of
from harness.store.workspace import Workspace
from tests.harness import inline_lab
from tests.harness.hand_made import EXPERIMENT
from tests.harness.inline_lab import BASE, HEAD, LIMITS, SQUARES, make_record, run_lab


def record(seed: int, *ys: float | None, status: str = "done", note: str = "") -> Record:
    trial = Trial(EXPERIMENT, {"seed": seed}, "smoke")
    made = make_record(trial, status=status, rows=[{"y": y} for y in ys])
    return made.model_copy(update={"note": note})


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
        ({"n": 1.0}, {"n": 1.001}, "row 0 n: 1.0 then, 1.001 now"),
        ({"n": 0.0}, {"n": 1e-8}, "row 0 n: 0.0 then, 1e-08 now"),
    ],
)
def test_the_first_cell_that_differs_is_told(
    old: dict[str, Any], new: dict[str, Any], reason: str
) -> None:
    before, after = (
        record(0).model_copy(update={"rows": [{"same": 1, **row}]}) for row in (old, new)
    )
    assert compare(before, after) == ("differs", reason)


def test_floats_may_move_by_what_another_processor_moves_them() -> None:
    then = record(0, 100.0, 0.0)
    assert compare(then, record(0, 100.0, 0.0)) == ("bit", "")
    assert compare(then, record(0, 100.001, 1e-10)) == ("close", "")
    assert compare(then, record(0, 1.0, 0.0), measured=("y",)) == ("bit", "")


@pytest.mark.parametrize(
    ("new", "word", "reason"),
    [
        (record(0, 1.0, status="diverged"), "differs", "done then, diverged now"),
        (record(0, 1.0, 2.0), "differs", "1 rows then, 2 now"),
        (record(0, status="skipped", note="needs demo/base"), "not run", "needs demo/base"),
        (record(0, status="failed", note="/srv/me/net.bin"), "differs", "done then, failed now"),
    ],
)
def test_another_end_is_told_without_a_folder(new: Record, word: str, reason: str) -> None:
    assert compare(record(0, 1.0), new) == (word, reason)


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


def run_again(drawn: Sequence[Drawn], folder: Path) -> tuple[dict[str, Outcome], Summary]:
    store = RecordStore(Workspace(folder / "again"))
    plan = plan_trials([each.trial for each in drawn], "cpu", store, LIMITS)
    summary = inline_lab.carry_out(store, plan)
    outcomes = compare_drawn(drawn, store, inline_lab.make_library())
    return {each.trial: each for each in outcomes}, summary


def test_upstream_trials_run_again_and_are_not_counted(store: RecordStore, tmp_path: Path) -> None:
    found, summary = run_again(drawn_of(store, HEAD, 1), tmp_path)
    assert [outcome.outcome for outcome in found.values()] == ["bit"]
    assert summary.num_run == len(inline_lab.calls) == 2
    assert inline_lab.calls[0].startswith("lab/base[")


def test_the_commit_draws(store: RecordStore) -> None:
    keys = [each.record.key for each in drawn_of(store, SQUARES)]
    assert [each.record.key for each in drawn_of(store, SQUARES, 2)] == keys[:2]
    other = draw_trials(store.workspace, SQUARES, "cpu", 10, commit="another")
    assert {each.record.key for each in other} == set(keys)
    assert [each.record.key for each in other] != keys


def test_a_trial_whose_upstream_fails_is_not_run(store: RecordStore, tmp_path: Path) -> None:
    inline_lab.faults["lab/base[x=0 seed=0]"] = ValueError("/srv/somebody")
    found, summary = run_again(drawn_of(store, HEAD), tmp_path)
    lost = found["lab/head[x=0 k=5 seed=0]"]
    assert (lost.outcome, lost.reason) == ("not run", "needs lab/base[x=0 seed=0], which failed")
    assert found["lab/head[x=1 k=5 seed=0]"].outcome == "bit"
    assert len(summary.failed) == 2


def test_a_record_of_what_is_no_longer_declared_is_not_drawn(store: RecordStore) -> None:
    assert drawn_of(store, SQUARES) and not drawn_of(store, replace(SQUARES, version=2))


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
    plan = plan_trials([trial], "cpu", RecordStore(Workspace(tmp_path)), LIMITS)
    action = Action.BLOCKED if reason else Action.RUN
    assert {(item.action, item.reason) for item in plan.items.values()} == {
        (action, reason or "no record yet")
    }


# What is kept


def outcome(trial: str, word: Any) -> Outcome:
    return Outcome("lab/a", trial, word)


def test_a_line_per_processor_adds_up(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    first = [outcome("a", "bit"), outcome("b", "differs"), outcome("c", "not run")]
    keep(workspace, "lab", first, cpu="B", commit="1")
    keep(workspace, "lab", [outcome("a", "close"), outcome("d", "differs")], cpu="B", commit="2")
    keep(workspace, "lab", [outcome("a", "bit")], cpu="A", commit="2")
    keep(workspace, "lab", [outcome("a", "not run")], cpu="C", commit="2")
    found = [
        (line.cpu, line.num_trials, line.num_agree, line.differ, line.commit)
        for line in load_verified(workspace, "lab")
    ]
    assert found == [("A", 1, 1, [], "2"), ("B", 4, 2, ["b", "d"], "2")]
