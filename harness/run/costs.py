"""What trials will take: the median of the recorded seconds of their experiment, else the declared.

Where an author declares how trials differ, what was recorded scales that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import fsum
from statistics import median

from harness.declare.experiment import Estimate, Experiment
from harness.declare.profiles import Profile
from harness.store.record import Record
from harness.store.store import RecordStore, Rejected
from harness.store.trial import Trial, declared_grid

Found = tuple[Trial, Record | Rejected | None]


@dataclass(frozen=True, slots=True)
class _Pace:
    """How long the trials of an experiment took, in seconds and beside what was declared."""

    typical_s: float | None = None
    share: float | None = None


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
            self._paces[experiment.id] = _pace_of(found) or _pace_of(declared) or _Pace()

    def estimate(self, trial: Trial, record: Record | Rejected | None) -> Estimate:
        """Return what a trial takes; its own record tells it best."""
        declared = trial.experiment.estimate_of(trial.params)
        known = declared or Estimate(seconds=0.0)
        if isinstance(record, Record) and record.is_result:
            return replace(known, seconds=record.provenance.wall_s)
        self.learn(trial.experiment, ())
        pace = self._paces[trial.experiment.id]
        if declared is not None and pace.share is not None:
            return replace(known, seconds=declared.seconds * pace.share)
        return known if pace.typical_s is None else replace(known, seconds=pace.typical_s)


def _pace_of(found: Iterable[Found]) -> _Pace | None:
    took, said = [], []
    for trial, record in found:
        if isinstance(record, Record) and record.is_result:
            took.append(record.provenance.wall_s)
            said.append(trial.experiment.estimate_of(trial.params))
    if not took:
        return None
    guessed = fsum(each.seconds for each in said if each is not None)
    share = fsum(took) / guessed if guessed > 0.0 and None not in said else None
    return _Pace(typical_s=median(took), share=share)
