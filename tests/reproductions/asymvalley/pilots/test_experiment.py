"""Seeds and images of pilots, which no other trial may share."""

from __future__ import annotations

from harness.declare import PILOT_SEEDS
from harness.declare.profiles import PROFILES
from reproductions.asymvalley.models.pairs import training_of
from reproductions.asymvalley.pilots.experiment import NETS, pilot_federated, pilot_nets
from tests.reproductions.asymvalley.claims import LIBRARY


def test_pilots_have_seeds_of_their_own() -> None:
    pilots = (pilot_nets, pilot_federated)
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


def test_settings_differ_from_the_usual_ones_where_they_say_so() -> None:
    for (pair, changed), point in zip(NETS, pilot_nets.params_of("cpu"), strict=True):
        usual = training_of("cpu", pair, seed=point["seed"], recipe=point["recipe"]).to_json()
        own = {name for name, value in point.items() if usual.get(name) != value}
        assert own <= {*changed, "num_validation"}
