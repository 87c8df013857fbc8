"""Grids: what they hold, what they cost, and what nets the walks need."""

from __future__ import annotations

import pytest

from harness.declare.experiment import Experiment
from harness.declare.profiles import Profile
from reproductions.asymvalley.trained_nets.experiment import nets
from tests.reproductions.asymvalley.claims import LIBRARY

EXPERIMENTS = [e for name, e in LIBRARY.experiments.items() if "/pilot" not in name]
LIMITS: dict[Profile, float] = {"cpu": 60.0 * 60 * 2, "gpu": 8.0 * 60}
"""Core-seconds an experiment may take: an hour on 2 cores, 8 minutes."""
CPU_PAPER_S = 3.6 * 3600 * 2


def seconds(experiment: Experiment, profile: Profile) -> float:
    found = [experiment.estimate_of(point) for point in experiment.params_of(profile)]
    return sum(estimate.seconds for estimate in found if estimate is not None)


def test_estimates_stay_below_the_limit_and_the_paper_is_done_in_time() -> None:
    for profile, limit in LIMITS.items():
        for experiment in EXPERIMENTS:
            assert seconds(experiment, profile) <= limit, (experiment.id, profile)
    assert sum(seconds(experiment, "cpu") for experiment in EXPERIMENTS) <= CPU_PAPER_S


@pytest.mark.parametrize("profile", ["cpu", "gpu", "paper"])
def test_a_claim_on_trained_nets_is_judged_where_these_are_trained(profile: Profile) -> None:
    """And nowhere else: such a claim would read as not run for ever."""
    for task in LIBRARY.tasks.values():
        own = [e for e in task.reads if any(use.experiment is nets for use in e.uses)]
        for claim in task.claims if own else ():
            if claim.scope.control is not None and profile in claim.scope.profiles:
                assert all(e.params_of(profile) for e in own), f"{task.id} {claim.id}"


@pytest.mark.parametrize("profile", ["smoke", "cpu", "gpu", "paper"])
def test_every_walk_starts_from_a_listed_net(profile: Profile) -> None:
    """A training that no grid lists would run unseen by plan and estimate."""
    listed = nets.params_of(profile)
    for experiment in EXPERIMENTS:
        for point in experiment.params_of(profile):
            for above, params in experiment.upstream_of(point):
                assert above is not nets or params in listed, experiment.id
