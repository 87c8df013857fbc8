"""Every net that the valley figures need, trained once and kept; and how walks start from one.

The start and the order of the images depend on the seed alone, so recipes and starts of batch
normalisation are compared from one start (section 4.2).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from harness.declare import Experiment, Params, Profile, Use
from reproductions.asymvalley.models.costs import estimate_of, needs_of, point_s, training_s
from reproductions.asymvalley.models.pairs import (
    BN_STARTS,
    PAIRS,
    RECIPES,
    BnStart,
    Fields,
    Pair,
    Recipe,
    Training,
    stands_in,
    training_of,
)

STARTED: tuple[Pair, ...] = ("vgg16_cifar10", "resnet20_svhn", "resnet20_cifar100")
"""Pairs of Figures 7, 21 and 22, each with three starts of batch normalisation."""
TUNED: tuple[Pair, ...] = ("vgg16_cifar10", "resnet20_cifar10")
"""Pairs of Figures 9 and 23, each with six recipes; Figures 8 and 24 to 26 take some of them."""
NOT_BASE: tuple[Pair, ...] = ("resnet20_cifar10",)
"""Pairs whose base recipe no figure shows."""
DAY_S = 24 * 3600.0


STAGED: Fields = {"more_data": "cifar10_more_10k", "num_train": 20_000, "augment": True}
"""All images of CIFAR-10 that are staged, with augmentation."""
LONGER: dict[Pair, Fields] = {
    "vgg16_cifar10": STAGED | {"width": 12, "epochs": 16},
    "vgg16nobn_cifar10": STAGED | {"width": 8, "epochs": 12},
    "alexnet_food101": STAGED | {"width": 16, "epochs": 15},
    "vit_food101": STAGED | {"width": 64, "epochs": 10},
}
"""Settings of `pilot_nets` with which nets are to err less, on all staged images."""


def longer_training_of(
    pair: Pair, *, seed: int, recipe: Recipe = "base", bn_start: BnStart = "ones"
) -> Training:
    """Return a pair's training at `cpu`, longer and on more images where a pilot has such a one.

    >>> longer_training_of("vgg16_cifar10", seed=0).num_train
    20000
    >>> longer_training_of("resnet20_svhn", seed=0).num_train
    10000
    """
    usual = training_of("cpu", pair, seed=seed, recipe=recipe, bn_start=bn_start)
    return replace(usual, **LONGER.get(pair, {}))


def seeds_of(profile: Profile) -> range:
    """Return the seeds of a profile's trainings."""
    return range(1 if profile == "smoke" else 3)


def grid(profile: Profile) -> Iterator[Training]:
    """Yield every training of a profile, seed by seed."""
    for seed in seeds_of(profile):
        for pair in PAIRS:
            if pair not in NOT_BASE:
                yield training_of(profile, pair, seed=seed)
        for pair in STARTED:
            for start in BN_STARTS[1:]:
                yield training_of(profile, pair, seed=seed, bn_start=start)
        for pair in TUNED:
            for recipe in RECIPES:
                yield training_of(profile, pair, seed=seed, recipe=recipe)


def trainings(
    profile: Profile,
    *pairs: Pair,
    recipes: Sequence[Recipe] = ("base",),
    bn_starts: Sequence[BnStart] = ("ones",),
) -> Iterator[Training]:
    """Yield one training per pair, start, recipe and seed."""
    for pair, start, recipe in itertools.product(pairs, bn_starts, recipes):
        for seed in seeds_of(profile):
            yield training_of(profile, pair, seed=seed, recipe=recipe, bn_start=start)


nets = Experiment(
    "asymvalley/solution",
    version=1,
    params=Training,
    grid=grid,
    run="trial:train_net",
    needs=needs_of,
    estimate=lambda params: estimate_of(training_s(params)),
    dry_run=".models.kept_nets:dry_run",
    timeout_s=DAY_S,
    address=("pair", "recipe", "bn_start", "seed"),
    stands_in=stands_in,
)


def walk_experiment(
    id: str,
    *,
    params: type[Params],
    grid: Callable[[Profile], Iterator[Training]],
    run: str,
    num_points: Callable[[Any], int],
    address: tuple[str, ...],
) -> Experiment:
    """Return an experiment whose trials walk through one trained net each.

    run: from the paper's folder, `.study.trial:function`. num_points: how many points a trial
    measures.
    """
    return Experiment(
        id,
        version=1,
        params=params,
        grid=grid,
        run=run,
        needs=needs_of,
        uses=(Use(experiment=nets, params=Training.training),),
        estimate=lambda point: estimate_of(num_points(point) * point_s(point)),
        timeout_s=DAY_S,
        address=address,
    )
