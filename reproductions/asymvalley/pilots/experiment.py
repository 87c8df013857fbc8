"""Pilots: which nets err little enough, how fast one is fine-tuned, and what clients train with.

At seeds that no other grid has, and on validation images alone: no test image is looked at.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from harness.declare import PILOT_SEEDS, Experiment, Profile, doc
from reproductions.asymvalley.federated.experiment import (
    ALPHAS,
    CANDIDATES,
    LONG_COLOUR,
    LONG_GREY,
    SMOKE_DIGITS,
    Algorithm,
    Search,
    needs,
    search_cost,
)
from reproductions.asymvalley.models.costs import estimate_of, needs_of, training_s
from reproductions.asymvalley.models.pairs import STAGED, Fields, Pair, Training, training_of

COLOUR: Fields = STAGED | {"num_train": 18_000}
"""All staged images of CIFAR-10, less those for validation."""

FINE_TUNED: Fields = {
    "weights": "resnet20_cifar10", "width": 16, "image_size": 32, "normalisation": "imagenet",
    "epochs": 10, "num_train": 2_500, "num_validation": 2_500,
}  # fmt: skip
"""A published net of CIFAR-10 that learns CIFAR-100 by half of its staged images."""

NETS: tuple[tuple[Pair, Fields], ...] = (
    ("vgg16_cifar10", COLOUR | {"width": 12, "epochs": 16}),
    ("resnet20_svhn", {"num_train": 9_000}),
    ("vgg16_cifar10", COLOUR | {"width": 8, "epochs": 12}),
    ("alexnet_food101", COLOUR | {"width": 16, "epochs": 15}),
    ("vgg16_cifar10", COLOUR | {"width": 8, "epochs": 12, "recipe": "lr_low"}),
    ("vgg16_cifar10", COLOUR | {"width": 8, "epochs": 12, "recipe": "bs_large"}),
    ("vgg11_cifar100", {"num_train": 4_500, "width": 16, "epochs": 30, "augment": True}),
    ("vit_food101", COLOUR | {"width": 64, "epochs": 10}),
    ("vgg16nobn_cifar10", COLOUR | {"width": 8, "epochs": 12}),
    ("resnet20_cifar10", COLOUR | {"width": 16, "epochs": 12}),
    ("vgg16_cifar10", COLOUR | {"width": 16, "epochs": 20}),
    ("vgg16_cifar10", COLOUR | {"width": 8, "epochs": 24}),
    ("resnet20_cifar100", {"num_train": 4_500}),
    ("vgg16_cifar10", COLOUR | {"width": 8, "epochs": 10, "num_train": 9_000}),
    *(("resnet20_cifar100", FINE_TUNED | {"lr": lr}) for lr in (0.003, 0.01, 0.03, 0.1)),
)
"""Nets in the order in which they tell most; the last five train as Figure 11's halves do."""

TRIED: dict[Algorithm, str] = {
    "fedavg": CANDIDATES["fedavg"],
    "fedsign": "0.0001 0.001 0.01 0.1",
}
"""FedAvg's weight decays; FedSign's three gammas of section 6.2, and a tenth of the smallest."""


class PilotNet(Training):
    """One training, measured on validation images."""

    num_validation: int = doc("Training images behind those trained on, for the choice alone.")
    weights: str = doc("Data set of the start's weights; empty for a start that is drawn.")


def net_of(pair: Pair, seed: int, **changed: Any) -> PilotNet:
    """Return a pair's training at `cpu` with some settings changed."""
    recipe = changed.pop("recipe", "base")
    held = changed.pop("num_validation", changed["num_train"] // 9)
    weights = changed.pop("weights", "")
    usual = training_of("cpu", pair, seed=seed, recipe=recipe)
    return PilotNet(**vars(replace(usual, **changed)), num_validation=held, weights=weights)


def net_grid(profile: Profile) -> Iterator[PilotNet]:
    """Yield one trial per setting of a net."""
    match profile:
        case "smoke":
            small = training_of("smoke", "resnet20_svhn", seed=PILOT_SEEDS[0])
            yield PilotNet(**vars(small), num_validation=30, weights="")
        case "cpu":
            for pair, changed in NETS:
                yield net_of(pair, PILOT_SEEDS[0], **changed)


def searched(shape: Fields, alpha: float) -> Iterator[Search]:
    """Yield the trial of FedAvg's weight decays, and that of gammas at the smallest of these."""
    told = {name: value for name, value in shape.items() if name != "eval_every"}
    told |= {"alpha": alpha, "seed": PILOT_SEEDS[0]}
    for algorithm, candidates in TRIED.items():
        yield Search(algorithm=algorithm, candidates=candidates, **told)


def federated_grid(profile: Profile) -> Iterator[Search]:
    """Yield one trial per data set, alpha and algorithm."""
    match profile:
        case "smoke":
            yield from searched(SMOKE_DIGITS | {"rounds": 1}, 1.0)
        case "cpu":
            for shape, alpha in itertools.product((LONG_COLOUR, LONG_GREY), ALPHAS):
                yield from searched(shape, alpha)


pilot_nets = Experiment(
    "asymvalley/pilot_nets",
    version=1,
    params=PilotNet,
    grid=net_grid,
    run="trial:net_rows",
    needs=needs_of,
    estimate=lambda params: estimate_of(training_s(params)),
    dry_run=".models.kept_nets:dry_run",
    address=("pair", "recipe", "width", "epochs", "lr", "num_train", "seed"),
)
pilot_federated = Experiment(
    "asymvalley/pilot_federated",
    version=1,
    params=Search,
    grid=federated_grid,
    run=".federated.trial:search_rows",
    needs=needs,
    estimate=search_cost,
    dry_run=".federated.trial:dry_run",
    address=("data", "algorithm", "alpha", "seed"),
)
