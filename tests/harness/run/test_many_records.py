"""Many records: what a verb does for each of them is counted, for seconds depend on the machine."""

from __future__ import annotations

import cProfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.data import catalogue
from harness.declare.experiment import Needs
from harness.declare.profiles import Profile
from harness.declare.table import Table, value
from harness.declare.task import Task
from harness.run.status import TrialState, trial_states
from harness.store.result import build_result, check_rebuilt, load_result, write_result
from harness.store.store import RecordStore
from harness.store.trial import Trial, grid_of
from harness.store.workspace import Workspace
from tests.harness import inline_lab as lab


def many(count: int, needs: Needs = Needs()) -> Task:  # noqa: B008 - it cannot be changed
    """Return a task that shows so many trials."""

    def grid(profile: Profile) -> Iterator[lab.Point]:
        return (lab.Point(x=x, seed=0) for x in range(count))

    experiment = replace(lab.SQUARES, id="lab/many", grid=grid, needs=needs)
    table = Table.of(lab.Point, value("y", float, "It."))
    return Task("lab/many", reads=(experiment,), table=table, own_kind="table")


def trials_of(task: Task) -> list[Trial]:
    return grid_of(task.reads[0], "cpu")


def commit(root: Path, task: Task) -> RecordStore:
    """Write a task's committed records and its table; nothing lies in the working copy."""
    store = RecordStore(Workspace(root))
    records = {
        t.key: lab.make_record(t, rows=[{"y": float(t.params["x"]) / 2}]) for t in trials_of(task)
    }
    store.pack_records(task.reads[0].id, "cpu", [*records.values()])
    result = build_result(task, "cpu", lambda trial: records[trial.key])
    assert result is not None
    write_result(store.workspace, task, result)
    return store


def states(store: RecordStore, task: Task) -> list[TrialState]:
    # Other trials of the same points: those of a grid keep their keys.
    return trial_states([replace(trial) for trial in trials_of(task)], "cpu", store)


def rebuild(store: RecordStore, task: Task) -> None:
    stored = load_result(store.workspace, task, "cpu")
    assert stored is not None
    check_rebuilt(store.workspace, task, "cpu", stored)


def calls_a_record(root: Path, work: Callable[[RecordStore, Task], object]) -> float:
    """Return how many calls of functions a record more adds to some work."""
    found = []
    for count in (100, 100, 300):  # what the first one imports and caches does not count
        task, profile = many(count), cProfile.Profile()
        store = commit(root / str(count), task)
        profile.runcall(work, store, task)
        found.append(sum(entry.callcount for entry in profile.getstats()))
    return (found[2] - found[1]) / 200


@pytest.mark.parametrize(("work", "most"), [(states, 150), (rebuild, 250)])
def test_a_record_more_costs_few_calls(
    tmp_path: Path, work: Callable[[RecordStore, Task], object], most: int
) -> None:
    assert calls_a_record(tmp_path, work) < most


def test_status_makes_no_record_of_what_is_committed_and_looks_for_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = many(20)
    store = commit(tmp_path, task)
    full = store.with_committed(task.reads, "cpu")
    records = [full.result(trial) for trial in trials_of(task)]
    asked: list[str] = []
    find = RecordStore.find

    def watched(self: RecordStore, experiment_id: str, key: str) -> object:
        asked.append(key)
        return find(self, experiment_id, key)

    with monkeypatch.context() as patch:
        patch.setattr(RecordStore, "find", watched)
        patch.setattr("harness.store.record.parse_record", None)
        found = states(store, task)
        assert asked == []
    told = [(s.key, s.state, s.note, s.wall_s, s.stale) for s in found]
    assert told == [(r.key, "done", "", 0.25, True) for r in records if r]
    # Of one that lies in the working copy, too, the file there counts.
    newer = lab.make_record(trials_of(task)[3], status="diverged")
    store.write(newer)
    monkeypatch.setattr(RecordStore, "find", watched)
    assert [state.state for state in states(store, task)].index("diverged") == 3
    assert asked == [newer.key]


def test_the_catalogue_is_read_once_for_the_keys_of_many_trials(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[Path] = []
    reader = catalogue.read_catalogue

    def watched(path: Path) -> object:
        read.append(path)
        return reader(path)

    monkeypatch.setattr(catalogue, "read_catalogue", watched)
    catalogue._merged.cache_clear()
    keys = {trial.key for trial in trials_of(many(50, Needs(data=("digits",))))}
    assert len(keys) == 50 and len(read) == 1
