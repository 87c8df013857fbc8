"""How the trials behind some tasks stand: one row per trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harness.declare.experiment import Status
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.provenance.before import code_of, load_before
from harness.publish.evidence import experiment_code
from harness.registry import experiments_of
from harness.run.trial import Trial, all_trials
from harness.store.record import Record
from harness.store.store import RecordStore, Rejected

STATES = (*(str(status) for status in Status), "rejected", "missing")


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialState:
    """One trial and its record."""

    experiment: str
    trial: str
    key: str
    state: str
    """A record's status, `rejected` where it cannot be used, `missing` where there is none."""
    stale: bool
    """The code it ran has changed since."""
    note: str
    wall_s: float | None

    @property
    def has_result(self) -> bool:
        return self.state in ("done", "diverged", "oom")

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def trial_states(tasks: Sequence[Task], profile: Profile, store: RecordStore) -> list[TrialState]:
    """Return the state of every trial behind the tasks, experiment by experiment."""
    states = []
    for experiment in experiments_of(tasks):
        committed = store.with_committed([experiment], profile)
        digest = experiment_code(experiment)
        before = load_before(store.workspace.root, experiment.paper)
        for trial in all_trials(experiment, profile):
            record = committed.read(trial)
            stale = isinstance(record, Record) and code_of(record, before) != digest
            states.append(_state(trial, record, stale=stale))
    return states


def _state(trial: Trial, record: Record | Rejected | None, *, stale: bool) -> TrialState:
    state, note, wall_s = "missing", "", None
    if isinstance(record, Rejected):
        state, note = "rejected", record.reason
    elif record is not None:
        state, note = record.status, record.note or record.error
        wall_s = record.provenance.wall_s
    return TrialState(
        experiment=trial.experiment.id,
        trial=trial.name,
        key=trial.key,
        state=state,
        stale=stale,
        note=note,
        wall_s=wall_s,
    )
