"""What trials will take: as long as their records did, others in proportion to those.

No record of smoke is committed: where there is none here, a run that is kept tells its pace.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import fsum
from statistics import median

from harness.declare.cohorts import FIRST
from harness.declare.experiment import Estimate, Experiment
from harness.declare.profiles import Profile
from harness.run.kept_seconds import kept_seconds
from harness.run.trial import Trial, declared_grid
from harness.store.record import Record
from harness.store.store import RecordStore, Rejected

Found = tuple[Trial, Record | Rejected | None]


@dataclass(frozen=True, slots=True)
class _Pace:
    """How long the trials of an experiment took, in seconds and beside what was declared."""

    typical_s: float | None = None
    share: float | None = None


class Costs:
    """Estimates of trials, from the records of a store where it has any.

    Records of another machine tell more than what an author guessed, and those of a grid about
    its further seeds, its cohorts and its variants.
    """

    def __init__(self, store: RecordStore, profile: Profile) -> None:
        self._store, self._profile = store, profile
        self._paces: dict[str, _Pace] = {}

    def learn(self, experiment: Experiment, found: Iterable[Found]) -> None:
        """Take records of an experiment as what its trials take, unless it was learnt before."""
        if experiment.id not in self._paces:
            pace = _pace_of(found) or self._declared_pace(experiment)
            self._paces[experiment.id] = pace or self._kept_pace(experiment) or _Pace()

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

    def _declared_pace(self, experiment: Experiment) -> _Pace | None:
        """Return the pace of the grid as it is declared, where a variant or cohort has none."""
        trials = declared_grid(experiment, self._profile, FIRST)
        return _pace_of((trial, self._store.read(trial)) for trial in trials)

    def _kept_pace(self, experiment: Experiment) -> _Pace | None:
        """Return the pace of the smoke run that the paper keeps, None at any other profile."""
        each_s = kept_seconds(experiment) if self._profile == "smoke" else None
        if each_s is None:
            return None
        trials = declared_grid(experiment, self._profile, FIRST)
        said = [experiment.estimate_of(trial.params) for trial in trials]
        return _Pace(typical_s=each_s, share=_share(each_s * len(trials), said))


def _pace_of(found: Iterable[Found]) -> _Pace | None:
    took, said = [], []
    for trial, record in found:
        if isinstance(record, Record) and record.is_result:
            took.append(record.provenance.wall_s)
            said.append(trial.experiment.estimate_of(trial.params))
    if not took:
        return None
    return _Pace(typical_s=median(took), share=_share(fsum(took), said))


def _share(seconds: float, said: Sequence[Estimate | None]) -> float | None:
    """Return how many times as long as declared trials took; None where some declare nothing."""
    guessed = fsum(each.seconds for each in said if each is not None)
    return seconds / guessed if guessed > 0.0 and None not in said else None
