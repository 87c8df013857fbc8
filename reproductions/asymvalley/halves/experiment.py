"""Two networks from one start, trained on halves of the data: Figure 11.

"random": the start is drawn. "pretrained": the staged ResNet-20 of CIFAR-10 is fine-tuned on
CIFAR-100 with a new last layer (DEV-01, DEV-13). Width and learning rate at `cpu` are those with
which halves met the bounds of their controls in `pilot_nets`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from harness.declare import Experiment, Profile, doc
from reproductions.asymvalley.models.costs import estimate_of, needs_of, point_s, training_s
from reproductions.asymvalley.models.pairs import (
    DATA,
    Fields,
    Training,
    stands_in,
    training_of,
)
from reproductions.asymvalley.trained_nets.experiment import DAY_S, net_seeds

KEPT_EPOCHS: dict[Profile, str] = {
    "smoke": "1",
    "cpu": "1 2 3 5 10",
    "gpu": "1 2 3 5 10 20",
    "paper": "1 2 3 5 10 20 30 50",
}
"""Epochs after which the line is drawn; training ends with the last (section 6.1)."""


REGIMES = {"random": "random start", "pretrained": "pre-trained start"}


class Halves(Training):
    """Two trainings of one start, each on half of the images."""

    checkpoints: str = doc("Epochs after which both nets are compared.")
    num_points: int = doc("Points of the line between both nets.")
    regime: Literal["random", "pretrained"] = doc(
        "What both nets start from: random, or pretrained."
    )
    pretrained: bool = doc("Whether the start is a trained net with a new last layer.")
    weights: str = doc("Data set of the start's weights; empty for a start that is drawn.")

    @property
    def epochs_kept(self) -> list[int]:
        return [int(epoch) for epoch in self.checkpoints.split()]


def grid(profile: Profile) -> Iterator[Halves]:
    """Yield one pair of halves per regime and seed; the paper's Flowers are not at hand."""
    small, kept = profile == "smoke", KEPT_EPOCHS[profile]
    shared: Fields = {"checkpoints": kept, "num_points": 3 if small else 11}
    epochs = int(kept.split()[-1])
    for seed in net_seeds(profile):
        net = replace(training_of(profile, "vgg16_cifar10", seed=seed), epochs=epochs)
        net = replace(net, width=8) if profile == "cpu" else net
        yield Halves(**vars(net), **shared, regime="random", pretrained=False, weights="")
        if profile == "paper":
            continue
        net = training_of(profile, "resnet20_cifar100", seed=seed)
        net = replace(net, epochs=epochs)
        if not small:
            net = replace(net, width=16, image_size=32, normalisation="imagenet")
        weights = "" if small else "resnet20_cifar10"
        yield Halves(**vars(net), **shared, regime="pretrained", pretrained=True, weights=weights)


def halves_stand_in(params: Halves) -> dict[str, str]:
    """Return what was run in the place of the paper's nets and data."""
    if params.regime == "random":
        return stands_in(params)
    images = f"{params.num_train:,} images of {DATA[params.data].name}"
    return {"ResNet18": f"ResNet{params.depth}", "Flowers": images}


half_lines = Experiment(
    "asymvalley/half_lines",
    version=1,
    params=Halves,
    grid=grid,
    run="trial:half_rows",
    needs=needs_of,
    # Two trainings, each on half of the images.
    estimate=lambda params: estimate_of(
        training_s(params) + len(params.epochs_kept) * params.num_points * point_s(params)
    ),
    dry_run=".models.kept_nets:dry_run",
    timeout_s=DAY_S,
    address=("regime", "seed"),
    stands_in=halves_stand_in,
)
