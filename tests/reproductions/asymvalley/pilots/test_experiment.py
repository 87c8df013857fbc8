"""Seeds and images of pilots, which no other trial may share."""

from __future__ import annotations

from harness.declare import PILOT_SEEDS
from harness.declare.profiles import PROFILES
from reproductions.asymvalley.federated.experiment import searches
from reproductions.asymvalley.pilots.experiment import pilot_federated, pilot_nets
from tests.reproductions.asymvalley.claims import LIBRARY


def test_pilots_have_seeds_of_their_own() -> None:
    pilots = (pilot_nets, pilot_federated, searches)
    for experiment in LIBRARY.experiments.values():
        points = [p for profile in PROFILES for p in experiment.params_of(profile)]
        seeds = {point.get("seed") for point in points}
        if experiment in pilots:
            assert seeds <= set(PILOT_SEEDS)
        else:
            assert not seeds & set(PILOT_SEEDS), experiment.id


def test_a_pilot_trains_on_no_image_that_it_validates_on() -> None:
    for point in pilot_nets.params_of("cpu"):
        staged = {"": 10_000, "cifar10_more_10k": 20_000}[point.get("more_data", "")]
        staged = {"mnist": 60_000, "cifar100_5k_1k": 5_000}.get(point["data"], staged)
        assert point["num_train"] + point["num_validation"] <= staged
