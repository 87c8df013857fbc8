"""How the trials behind some tasks stand: one row per trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harness.code_digest import code_digest
from harness.records import Record, RecordStore, Rejected
from harness.registry import walk_experiments
from harness.task import Profile, Status, Task
from harness.trial import Trial, grid_of

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
    for experiment in dict.fromkeys(e for task in tasks for e in walk_experiments(task)):
        store.unpack(experiment.id, profile)
        digest = code_digest(experiment)
        for trial in grid_of(experiment, profile):
            states.append(_state(trial, store.read(trial), digest))
    return states


def _state(trial: Trial, record: Record | Rejected | None, digest: str) -> TrialState:
    state, note, stale, wall_s = "missing", "", False, None
    if isinstance(record, Rejected):
        state, note = "rejected", record.reason
    elif record is not None:
        state, note = record.status, record.note or record.error
        stale, wall_s = record.provenance.code != digest, record.provenance.wall_s
    return TrialState(
        experiment=trial.experiment.id,
        trial=trial.name,
        key=trial.key,
        state=state,
        stale=stale,
        note=note,
        wall_s=wall_s,
    )
