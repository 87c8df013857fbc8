"""Trials that are run in one go: a record each, and the fault of one is that one's alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.declare.experiment import Needs
from harness.declare.profiles import Profile
from harness.run.plan import make_plan
from harness.run.runner import Runner
from harness.store.record import Record
from harness.store.store import RecordStore
from harness.store.trial import Trial, grid_of
from harness.store.workspace import Workspace
from tests.harness import inline_lab as lab
from tests.harness.inline_lab import FACTS, ROOTS, Silent, carry_out, plan_of, run_lab
from tests.harness.run.test_a_card import CARD, Shared

TRIALS = grid_of(ROOTS, "cpu")
FIRST, SECOND = ([trial.name for trial in TRIALS[start : start + 3]] for start in (0, 3))
"""What goes together: the trials of a seed."""


def record_of(store: RecordStore, trial: Trial) -> Record:
    record = store.read(trial)
    assert isinstance(record, Record), record
    return record


def found(store: RecordStore) -> list[tuple[str, list[Any]]]:
    return [(each.status, each.rows) for each in (record_of(store, trial) for trial in TRIALS)]


def test_what_goes_together_has_the_records_of_what_runs_alone(
    store: RecordStore, tmp_path: Path
) -> None:
    """One that diverges does so by itself."""
    assert run_lab(store, "roots").num_run == 6
    assert ["one go", *FIRST, "one go", *SECOND] == lab.calls
    assert [status for status, _ in found(store)] == ["done", "done", "diverged"] * 2
    assert record_of(store, TRIALS[0]).provenance.choices == {"together": "3 trials"}
    alone = RecordStore(Workspace(tmp_path / "alone"))
    run_lab(alone, "roots", rehearsed="smoke")
    assert [*FIRST, *SECOND] == lab.calls
    assert found(alone) == found(store)


@pytest.mark.parametrize(("profile", "num_goes"), [("smoke", 0), ("cpu", 2)])
def test_a_rehearsal_goes_as_the_profile_does_that_it_rehearses(
    store: RecordStore, profile: Profile, num_goes: int
) -> None:
    carry_out(store, plan_of(store, "roots", profile="smoke"), rehearsed=profile)
    assert lab.calls.count("one go") == num_goes


def test_a_record_that_is_lost_is_made_again_and_no_other(store: RecordStore) -> None:
    run_lab(store, "roots")
    store.path(TRIALS[1]).unlink()
    store.path(TRIALS[3]).write_text("torn")
    assert run_lab(store, "roots").num_run == 2
    assert [FIRST[1], SECOND[0]] == lab.calls


@pytest.mark.parametrize("fault", [MemoryError("too many"), ValueError("too rooted")])
def test_a_go_that_fails_costs_the_trial_at_fault_alone(
    store: RecordStore, fault: BaseException
) -> None:
    lab.faults[FIRST[1]] = fault
    summary = run_lab(store, "roots")
    assert ["one go", *FIRST[:2], "one go", *SECOND, *FIRST] == lab.calls
    assert (summary.num_run, summary.stopped) == (6, {})
    ended = "oom" if isinstance(fault, MemoryError) else "failed"
    assert [status for status, _ in found(store)[:3]] == ["done", ended, "diverged"]


def test_a_trial_that_another_run_holds_is_waited_for_and_the_others_run(
    store: RecordStore,
) -> None:
    lock = store.lock(TRIALS[0])
    assert lock.__enter__()
    releases = Silent(lambda trial: lock.__exit__(None, None, None))
    assert run_lab(store, "roots", progress=releases).num_left == 0
    assert ["one go", *FIRST[1:], "one go", *SECOND, FIRST[0]] == lab.calls


@pytest.mark.parametrize(("needed", "most"), [(0, 3), (4, 2), (7, 1)])
def test_as_many_go_together_as_the_card_holds(tmp_path: Path, needed: int, most: int) -> None:
    nets = replace(ROOTS, needs=Needs(device="cuda", gpu_bytes=needed * 2**30))
    store, card = RecordStore(Workspace(tmp_path)), Shared()
    plan = make_plan([lab.task_of(nets, "nets")], "cpu", store, CARD)
    library: Any = SimpleNamespace(tasks_of=lambda each: [], module_of=lambda each: __name__)
    assert Runner(plan, store, library, card, Silent(), facts=FACTS).run().num_run == 6
    assert (max(card.sizes), sum(card.sizes)) == (most, 6)
