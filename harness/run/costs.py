"""What trials will take: the median of the recorded seconds of their experiment, else the declared.

Where an author declares how trials differ, what was recorded scales that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import fsum
from statistics import median

from harness.declare.experiment import Estimate, Experiment
from harness.declare.profiles import Profile
from harness.store.record import Record
from harness.store.store import RecordStore, Rejected
from harness.store.trial import Trial, declared_grid

Found = tuple[Trial, Record | Rejected | None]


class Costs:
    """Estimates of trials, from the records of a store where it has any."""

    def __init__(self, store: RecordStore, profile: Profile) -> None:
        self._store, self._profile = store, profile
        self._paces: dict[str, _Pace] = {}

    def learn(self, experiment: Experiment, found: Iterable[Found]) -> None:
        """Take records of an experiment as what its trials take, unless it was learnt before."""
        if experiment.id not in self._paces:
            grid = declared_grid(experiment, self._profile)
            declared = ((trial, self._store.read(trial)) for trial in grid)
            self._paces[experiment.id] = _pace_of(found) or _pace_of(declared) or (None, None)

    def estimate(self, trial: Trial, record: Record | Rejected | None) -> Estimate:
        """Return what a trial takes; its own record tells it best."""
        declared = trial.experiment.estimate_of(trial.params) or Estimate(seconds=0.0)
        if isinstance(record, Record) and record.is_result:
            return replace(declared, seconds=record.provenance.wall_s)
        self.learn(trial.experiment, ())
        typical_s, share = self._paces[trial.experiment.id]
        if share is not None:
            return replace(declared, seconds=declared.seconds * share)
        return declared if typical_s is None else replace(declared, seconds=typical_s)


_Pace = tuple[float | None, float | None]
"""How long the trials of an experiment took, in seconds and beside what was declared."""


def _pace_of(found: Iterable[Found]) -> _Pace | None:
    ran = [(t, r.provenance.wall_s) for t, r in found if isinstance(r, Record) and r.is_result]
    if not ran:
        return None
    said = [trial.experiment.estimate_of(trial.params) for trial, _ in ran]
    guessed_s = fsum(each.seconds for each in said if each is not None)
    is_known = guessed_s > 0.0 and None not in said
    took_s = [wall_s for _, wall_s in ran]
    return median(took_s), fsum(took_s) / guessed_s if is_known else None
