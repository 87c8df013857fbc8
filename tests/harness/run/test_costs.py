"""What a trial is said to take: what it took, else what is declared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.declare.experiment import Estimate, Experiment
from harness.run.plan import Costs
from harness.store.record import Record
from harness.store.store import RecordStore
from harness.store.trial import Trial
from harness.store.workspace import Workspace
from tests.harness.inline_lab import SQUARES, make_record


def trial_of(experiment: Experiment, x: int) -> Trial:
    return Trial(experiment, {"x": x, "seed": 0}, "smoke")


def took(trial: Trial, wall_s: float) -> Record:
    record = make_record(trial)
    return record.model_copy(
        update={"provenance": record.provenance.model_copy(update={"wall_s": wall_s})}
    )


@pytest.fixture
def costs(store: RecordStore) -> Costs:
    return Costs(store, "smoke")


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> RecordStore:
    return RecordStore(Workspace(tmp_path_factory.mktemp("empty")))


def test_a_trial_takes_as_long_as_its_record(costs: Costs) -> None:
    trial = trial_of(SQUARES, 0)
    assert costs.estimate(trial, took(trial, 7.0)).seconds == 7.0


def test_others_take_what_is_declared_scaled_by_recorded_ones(store: RecordStore) -> None:
    said = replace(SQUARES, estimate=lambda point: Estimate(seconds=10.0 * (1 + point.x)))
    store.write(took(trial_of(said, 0), 5.0))
    assert Costs(store, "smoke").estimate(trial_of(said, 3), None).seconds == pytest.approx(20.0)


def test_without_any_record_it_is_what_is_declared(costs: Costs) -> None:
    said = replace(SQUARES, estimate=lambda point: Estimate(seconds=3.0))
    assert costs.estimate(trial_of(said, 1), None).seconds == 3.0
