"""Committed trials run again: with what they start from, beside the checkout, or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.declare.experiment import Experiment, Needs
from harness.errors import DataError, UsageError
from harness.run.executors.inline import InlineExecutor
from harness.provenance.verify import Verification, load_verifications, verifications_path
from harness.run.plan import MachineLimits
from harness.run.rerun import Committed, Drawn, Rerun, draw_trials, obstacle
from harness.run.runner import Runner, Summary
from harness.store.trial import Trial, declared_grid, grid_of, trial_key
from harness.store.record import Record, pack_bytes, read_pack
from harness.store.store import RecordStore
from harness.store.workspace import Workspace
from tests.harness import inline_lab
from tests.harness.inline_lab import (
    BASE,
    FACTS,
    HEAD,
    LIMITS,
    SQUARES,
    Silent,
    run_lab,
    tree,
)


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


def rerun(
    store: RecordStore,
    experiment: Experiment,
    num: int = 10,
    *,
    limits: MachineLimits = LIMITS,
) -> tuple[list[Verification], Summary, Runner]:
    committed = Committed(store.workspace, "cpu")
    drawn = draw_trials(committed, experiment, num, commit="c0ffee")
    session = Rerun(inline_lab.make_library(), committed, drawn, facts=FACTS, progress=Silent())
    runners: list[Runner] = []
    summary = session.carry_out(session.plan(limits), InlineExecutor(), on_start=runners.append)
    return session.outcomes, summary, runners[0]


def words(outcomes: list[Verification]) -> list[str]:
    return [outcome.outcome for outcome in outcomes]


def change_pack(store: RecordStore, experiment: Experiment, **changes: object) -> None:
    """Change the first record of a committed file."""
    path = store.pack_path(experiment.id, "cpu")
    first, *rest = read_pack(path)
    path.write_bytes(pack_bytes([first.model_copy(update=changes), *rest]))


def test_upstream_trials_run_again_and_are_not_counted(store: RecordStore) -> None:
    outcomes, summary, _ = rerun(store, HEAD, 1)
    assert words(outcomes) == ["bit"]
    (x,) = {json.loads(call.split("x=")[1][0]) for call in inline_lab.calls}
    assert inline_lab.calls == [f"lab/base[x={x} seed=0]", f"lab/head[x={x} k=5 seed=0]"]
    assert summary.num_run == 2
    assert load_verifications(store.workspace, "lab/base", "cpu") == []


def test_only_the_file_of_outcomes_is_new_in_the_checkout(store: RecordStore) -> None:
    before = tree(store.workspace.root)
    _, _, runner = rerun(store, HEAD)
    after = tree(store.workspace.root)
    assert after.pop("results/lab/verify/head.cpu.jsonl")
    assert after == before
    assert not runner.store.workspace.root.exists()
    assert not runner.store.workspace.root.is_relative_to(store.workspace.root)


def test_a_trial_whose_upstream_fails_is_not_run(store: RecordStore) -> None:
    inline_lab.faults["lab/base[x=0 seed=0]"] = ValueError("/srv/somebody")
    outcomes, summary, _ = rerun(store, HEAD)
    found = {outcome.trial: outcome for outcome in outcomes}
    lost = found["lab/head[x=0 k=5 seed=0]"]
    assert (lost.outcome, lost.reason) == ("not_run", "needs lab/base[x=0 seed=0], which failed")
    assert found["lab/head[x=1 k=5 seed=0]"].outcome == "bit"
    assert len(summary.failed) == 2


def test_a_trial_that_fails_differs_and_its_message_is_not_kept(store: RecordStore) -> None:
    inline_lab.faults["lab/squares[x=1 seed=0]"] = FileNotFoundError("/srv/somebody/net")
    outcomes, summary, _ = rerun(store, SQUARES)
    found = {outcome.trial: outcome.reason for outcome in outcomes if not outcome.agrees}
    assert found == {"lab/squares[x=1 seed=0]": "done then, failed now: FileNotFoundError"}
    assert len(summary.failed) == 1
    assert "somebody" not in verifications_path(store.workspace, SQUARES.id, "cpu").read_text()


def test_an_interrupt_keeps_what_was_compared(store: RecordStore) -> None:
    before = tree(store.workspace.root)
    committed = Committed(store.workspace, "cpu")
    drawn = draw_trials(committed, SQUARES, 3, commit="c0ffee")
    inline_lab.faults[drawn[1].trial.name] = KeyboardInterrupt()
    outcomes, summary, runner = rerun(store, SQUARES, 3)
    assert summary.interrupted
    assert [outcome.key for outcome in outcomes] == [drawn[0].trial.key]
    assert load_verifications(store.workspace, SQUARES.id, "cpu") == outcomes
    assert not runner.store.workspace.root.exists()
    assert tree(store.workspace.root).keys() - before.keys() == {
        "results/lab/verify/squares.cpu.jsonl"
    }


def test_what_ended_just_before_an_interrupt_is_compared(store: RecordStore) -> None:
    """A trial may end unseen: its record is there when the run was told to stop."""
    committed = Committed(store.workspace, "cpu")
    drawn = draw_trials(committed, SQUARES, 1, commit="c0ffee")
    session = Rerun(inline_lab.make_library(), committed, drawn, facts=FACTS, progress=Silent())

    def end_unseen(runner: Runner) -> None:
        run_lab(runner.store, "squares")
        runner.request_stop()

    session.carry_out(session.plan(LIMITS), InlineExecutor(), on_start=end_unseen)
    assert words(session.outcomes) == ["bit"]


def test_a_damaged_file_of_outcomes_is_seen_before_anything_runs(store: RecordStore) -> None:
    path = verifications_path(store.workspace, SQUARES.id, "cpu")
    path.parent.mkdir(parents=True)
    path.write_text("nonsense\n")
    with pytest.raises(DataError, match="line 1"):
        rerun(store, SQUARES)
    assert inline_lab.calls == []


# What cannot run here


def needing(needs: Needs) -> Drawn:
    """Return a drawn trial of an experiment that starts from another with such needs."""
    base = replace(BASE, needs=needs)
    head = replace(HEAD, uses=(replace(HEAD.uses[0], experiment=base),))
    trial = Trial(head, {"x": 0, "k": 5, "seed": 0}, "cpu")
    return Drawn(trial, inline_lab.make_record(trial))


@pytest.mark.parametrize(
    ("needs", "reason"),
    [
        (Needs(), ""),
        (Needs(device="cuda"), "needs a CUDA GPU, this machine has none"),
        (Needs(memory_bytes=2**40), "needs 1.02e+03 GiB, has 16 GiB"),
        (Needs(packages=("nosuchthing",)), "needs the package nosuchthing, which is not installed"),
        (Needs(data=("books",)), "needs the data set books"),
    ],
)
def test_what_is_lacking_upstream_is_named_without_a_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, needs: Needs, reason: str
) -> None:
    monkeypatch.setenv("REPRO_DATA", str(tmp_path / "nowhere"))
    found = obstacle(needing(needs), LIMITS)
    assert found == (f"lab/base[x=0 seed=0] {reason}" if reason else "")


def test_an_obstacle_is_an_outcome_and_nothing_runs(
    store: RecordStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_NEEDS", "nosuchthing")
    declared_grid.cache_clear()
    outcomes, summary, _ = rerun(store, SQUARES, 2)
    assert {(o.outcome, o.reason) for o in outcomes} == {
        ("not_run", "needs the package nosuchthing, which is not installed")
    }
    assert (inline_lab.calls, summary.num_run) == ([], 0)
    assert load_verifications(store.workspace, SQUARES.id, "cpu") == outcomes


def test_a_record_of_another_version_is_not_run(store: RecordStore) -> None:
    params = next(read_pack(store.pack_path(SQUARES.id, "cpu"))).params
    key = trial_key(
        experiment=SQUARES.id, version=9, params=params, upstream=[], data={}, device="cpu"
    )
    change_pack(store, SQUARES, version=9, key=key)
    outcomes, _, _ = rerun(store, SQUARES)
    reasons = [outcome.reason for outcome in outcomes if outcome.outcome == "not_run"]
    assert reasons == ["it is of version 9 of its experiment, which is at 1"]


def test_a_record_of_another_upstream_or_other_data_is_not_run(store: RecordStore) -> None:
    trial = grid_of(HEAD, "cpu")[0]
    record = inline_lab.make_record(trial).model_copy(update={"key": "0" * 64})
    assert obstacle(Drawn(trial, record), LIMITS).startswith("its data are no longer")
    record = record.model_copy(update={"upstream": ["0" * 64]})
    assert obstacle(Drawn(trial, record), LIMITS).startswith("it started from trials that")


def test_a_record_outside_the_grid_is_run_with_its_own_parameters(store: RecordStore) -> None:
    outside = Trial(BASE, {"x": 7, "seed": 0}, "cpu")
    record = inline_lab.make_record(outside, rows=[{"y": 7.0}])
    path = store.pack_path(BASE.id, "cpu")
    path.write_bytes(pack_bytes([record]))
    outcomes, _, _ = rerun(store, BASE)
    assert [(o.trial, o.outcome) for o in outcomes] == [("lab/base[seed=0 x=7]", "bit")]


def test_an_upstream_experiment_is_drawn_only_by_its_name() -> None:
    from harness.commands.verify import chosen_experiments

    library, head = inline_lab.make_library(), [inline_lab.TASKS["head"]]
    assert chosen_experiments(library, head, []) == [HEAD]
    assert chosen_experiments(library, head, ["lab/base"]) == [BASE]
    with pytest.raises(UsageError, match="no selected task reads it or starts from it"):
        chosen_experiments(library, head, ["lab/squares"])
    with pytest.raises(UsageError, match="'lab/base'"):
        chosen_experiments(library, head, ["lab/bas"])


def test_records_keep_the_machines_without_their_load(store: RecordStore) -> None:
    records: list[Record] = list(read_pack(store.pack_path(SQUARES.id, "cpu")))
    machine = {"cpu": "old", "load_average": 9.0}
    provenance = records[0].provenance.model_copy(update={"machine": machine, "commit": "0ld"})
    change_pack(store, SQUARES, provenance=provenance)
    outcomes, _, _ = rerun(store, SQUARES)
    (found,) = [outcome for outcome in outcomes if outcome.key == records[0].key]
    assert (found.record_machine, found.record_commit) == ({"cpu": "old"}, "0ld")
    assert (found.machine, found.commit) == (FACTS["machine"], FACTS["commit"])
