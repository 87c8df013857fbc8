"""What `repro plan` says a run takes is within a factor of two of what the committed runs took."""

from __future__ import annotations

import pytest

from harness.registry import Library, load_registry
from harness.run.trial import all_trials
from harness.store.store import RecordStore
from harness.store.workspace import Workspace
from tests.checkout import ROOT

LONG_S = 600.0
"""Experiments that took less are judged within their paper's sum alone."""

NOT_UNDERSTOOD = {"asymvalley/batch_norm_starts"}
"""Its records took 2.4 times what its points should; those of its kin did not."""


@pytest.fixture(scope="module")
def library() -> Library:
    return load_registry()


@pytest.mark.timing  # of what records hold: it reads times, and takes none
@pytest.mark.parametrize("paper", ["asymvalley", "fg2u", "kernels", "lisa", "paro", "supar"])
def test_estimates_are_within_a_factor_of_two(library: Library, paper: str) -> None:
    took, said = {}, {}
    experiments = [e for e in library.experiments.values() if e.paper == paper]
    store = RecordStore(Workspace(root=ROOT)).with_committed(experiments, "cpu")
    for experiment in experiments:
        for trial in all_trials(experiment, "cpu"):
            record, estimate = store.result(trial), experiment.estimate_of(trial.params)
            if record is not None and record.status == "done" and estimate is not None:
                took[experiment.id] = took.get(experiment.id, 0.0) + record.provenance.wall_s
                said[experiment.id] = said.get(experiment.id, 0.0) + estimate.seconds
    assert took
    assert 0.5 <= sum(said.values()) / sum(took.values()) <= 2.0
    shares = {name: said[name] / took[name] for name in took if took[name] > LONG_S}
    outside = {name for name, share in shares.items() if not 0.5 <= share <= 2.0}
    assert outside == {name for name in NOT_UNDERSTOOD if name in shares}
