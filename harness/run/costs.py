"""What trials will take: what is declared, scaled by how long recorded ones of its kind took."""

from __future__ import annotations

from dataclasses import replace
from math import fsum

from harness.declare.experiment import Estimate, Experiment
from harness.declare.profiles import Profile
from harness.store.record import Record
from harness.store.store import RecordStore, Rejected
from harness.store.trial import Trial, declared_grid


class Costs:
    """Estimates of trials, from the records of a store where it has any."""

    def __init__(self, store: RecordStore, profile: Profile) -> None:
        self._store, self._profile = store, profile
        self._paces: dict[str, float] = {}

    def estimate(self, trial: Trial, record: Record | Rejected | None) -> Estimate:
        """Return what a trial takes; its own record tells it best."""
        declared = _declared(trial)
        if isinstance(record, Record) and record.is_result:
            return replace(declared, seconds=record.provenance.wall_s)
        return replace(declared, seconds=declared.seconds * self._pace(trial.experiment))

    def _pace(self, experiment: Experiment) -> float:
        """Return how long recorded trials took beside what was declared; 1 without any."""
        if experiment.id not in self._paces:
            grid = declared_grid(experiment, self._profile)
            found = [(trial, record) for trial in grid if (record := self._store.result(trial))]
            declared_s = fsum(_declared(trial).seconds for trial, _ in found)
            took_s = fsum(record.provenance.wall_s for _, record in found)
            self._paces[experiment.id] = took_s / declared_s if declared_s else 1.0
        return self._paces[experiment.id]


def _declared(trial: Trial) -> Estimate:
    return trial.experiment.estimate_of(trial.params) or Estimate(seconds=0.0)
