"""Every net that the valley figures need, trained once and kept; and how walks start from one.

The start and the order of the images depend on the seed alone, so recipes and starts of batch
normalisation are compared from one start (section 4.2).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from harness.declare import Experiment, Params, Profile, Use, seeds_of
from reproductions.asymvalley.models.costs import estimate_of, needs_of, point_s, training_s
from reproductions.asymvalley.models.pairs import (
    BN_STARTS,
    PAIRS,
    RECIPES,
    BnStart,
    Pair,
    Recipe,
    Training,
    is_trained,
    stands_in,
    training_of,
)

STARTED: tuple[Pair, ...] = ("vgg16_cifar10", "resnet20_svhn", "resnet20_cifar100")
"""Pairs of Figures 7, 21 and 22, each with three starts of batch normalisation."""
TUNED: tuple[Pair, ...] = ("vgg16_cifar10", "resnet20_cifar10")
"""Pairs of Figures 9 and 23, each with six recipes; Figures 8 and 24 to 26 take some of them."""
NOT_BASE: tuple[Pair, ...] = ("resnet20_cifar10",)
"""Pairs whose base recipe no figure shows."""
WHOLE_AT_GPU: tuple[Pair, ...] = ("resnet20_svhn",)
"""Pairs whose nets have the paper's width on a card; the others have half of it."""
DAY_S = 24 * 3600.0


def net_seeds(profile: Profile) -> tuple[int, ...]:
    """Return the seeds of a profile's trainings: on a GPU three, which decide nothing.

    Five would take more than eight minutes.
    """
    return seeds_of(profile, 3 if profile == "gpu" else 5)


def grid(profile: Profile) -> Iterator[Training]:
    """Yield every training of a profile."""
    yield from trainings(profile, *(pair for pair in PAIRS if pair not in NOT_BASE))
    yield from trainings(profile, *STARTED, bn_starts=BN_STARTS[1:])
    yield from trainings(profile, *TUNED, recipes=RECIPES)


def trainings(
    profile: Profile,
    *pairs: Pair,
    recipes: Sequence[Recipe] = ("base",),
    bn_starts: Sequence[BnStart] = ("ones",),
) -> Iterator[Training]:
    """Yield one training per pair, start, recipe and seed, of those that a profile trains."""
    varied = (*recipes, *bn_starts) != ("base", "ones")
    trained = [pair for pair in pairs if is_trained(profile, pair, varied=varied)]
    for pair, start, recipe in itertools.product(trained, bn_starts, recipes):
        for seed in net_seeds(profile):
            training = training_of(profile, pair, seed=seed, recipe=recipe, bn_start=start)
            if profile == "gpu" and pair in WHOLE_AT_GPU:
                training = replace(training, width=training_of("paper", pair, seed=seed).width)
            yield training


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
