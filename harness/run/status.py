"""How some trials stand: one row per trial."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from harness.declare.experiment import Status
from harness.declare.profiles import Profile
from harness.store.code import experiment_code
from harness.store.record import RESULTS, Glimpse, Record
from harness.store.store import RecordStore, Rejected
from harness.store.trial import Trial

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
        return self.state in RESULTS


def trial_states(trials: Sequence[Trial], profile: Profile, store: RecordStore) -> list[TrialState]:
    """Return the state of each trial; a committed result is one too."""
    experiments = dict.fromkeys(trial.experiment for trial in trials)
    committed = {
        told.key: told for each in experiments for told in store.glimpses(each.id, profile)
    }
    # Of thousands to look for each by its name would take longer than all else.
    here = {key for each in experiments for key in store.keys(each.id)}
    code_of = functools.cache(experiment_code)
    states = []
    for trial in trials:
        record: Record | Rejected | Glimpse | None = (
            store.read(trial) if trial.key in here else None
        )
        if not isinstance(record, Record) or not record.is_result:
            record = committed.get(trial.key, record)
        state, note, stale, wall_s = "missing", "", False, None
        if isinstance(record, Rejected):
            state, note = "rejected", record.reason
        elif record is not None:
            made = record.provenance
            state, note, wall_s = record.status, record.note or record.error, made.wall_s
            stale = bool(made.code) and made.code != code_of(trial.experiment)
        states.append(
            TrialState(
                experiment=trial.experiment.id, trial=trial.name, key=trial.key,
                state=state, stale=stale, note=note, wall_s=wall_s,
            )
        )  # fmt: skip
    return states
