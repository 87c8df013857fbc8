"""What a trial is said to take: what it took, else what is declared."""

from __future__ import annotations

from dataclasses import replace

from harness.declare.experiment import Estimate, Experiment
from harness.run.plan import estimate_of
from harness.store.record import Record
from harness.store.trial import Trial
from tests.harness.inline_lab import SQUARES, make_record


def trial_of(experiment: Experiment, x: int) -> Trial:
    return Trial(experiment, {"x": x, "seed": 0}, "smoke")


def took(trial: Trial, wall_s: float) -> Record:
    record = make_record(trial)
    return record.model_copy(
        update={"provenance": record.provenance.model_copy(update={"wall_s": wall_s})}
    )


def test_a_trial_takes_as_long_as_its_record() -> None:
    trial = trial_of(SQUARES, 0)
    assert estimate_of(trial, took(trial, 7.0)).seconds == 7.0


def test_without_any_record_it_is_what_is_declared() -> None:
    said = replace(SQUARES, estimate=lambda point: Estimate(seconds=3.0))
    assert estimate_of(trial_of(said, 1), None).seconds == 3.0
