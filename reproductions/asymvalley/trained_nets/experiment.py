"""Every network that the valley figures need, trained once and kept.

The start and the order of the images depend on the seed alone, so recipes and starts of batch
normalisation are compared from one start (section 4.2).
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare.experiment import DryRun, Estimate, Experiment, Outcome, RawParams, RunContext
from harness.declare.profiles import Profile
from reproductions.asymvalley.models.costs import estimate as estimate_of
from reproductions.asymvalley.models.costs import needs_of, training_s
from reproductions.asymvalley.models.pairs import (
    BN_STARTS,
    PAIRS,
    RECIPES,
    BnStart,
    Pair,
    Point,
    Recipe,
    solution_point,
)

SEEDS: dict[Profile, range] = {
    "smoke": range(1),
    "cpu": range(3),
    "gpu": range(3),
    "paper": range(3),
}
STARTED: tuple[Pair, ...] = ("vgg16_cifar10", "resnet20_svhn", "resnet20_cifar100")
"""Pairs of Figures 7, 21 and 22, each with three starts of batch normalisation."""
TUNED: tuple[Pair, ...] = ("vgg16_cifar10", "resnet20_cifar10")
"""Pairs of Figures 9 and 23, each with six recipes; Figures 8 and 24 to 26 take some of them."""
NOT_BASE: tuple[Pair, ...] = ("resnet20_cifar10",)
"""Pairs of which no figure shows the base recipe."""


def run(params: RawParams, ctx: RunContext) -> Outcome:
    """Train one network and keep it."""
    from reproductions.asymvalley.models.kept_nets import train_solution

    return train_solution(params, ctx)


def points(profile: Profile) -> Iterator[Point]:
    """Yield every training of a profile, seed by seed."""
    for seed in SEEDS[profile]:
        for pair in PAIRS:
            if pair not in NOT_BASE:
                yield solution_point(profile, pair, seed=seed)
        for pair in STARTED:
            for start in BN_STARTS[1:]:
                yield solution_point(profile, pair, seed=seed, bn_start=start)
        for pair in TUNED:
            for recipe in RECIPES:
                yield solution_point(profile, pair, seed=seed, recipe=recipe)


def chosen(
    profile: Profile, pair: Pair, *, recipe: Recipe = "base", bn_start: BnStart = "ones"
) -> Iterator[Point]:
    """Yield one training a seed."""
    for seed in SEEDS[profile]:
        yield solution_point(profile, pair, seed=seed, recipe=recipe, bn_start=bn_start)


KEYS = tuple(solution_point("smoke", "vgg16_cifar10", seed=0))
"""The parameters of a training; those of a walk hold them and more."""


def of(params: RawParams) -> RawParams:
    """Return the parameters of the training that a walk's parameters name."""
    return {name: params[name] for name in KEYS}


def estimate(params: RawParams) -> Estimate:
    """Return what a training costs."""
    return estimate_of(training_s(params))


def dry_run(params: RawParams) -> DryRun:
    """Build and count a training's network without computing it."""
    from reproductions.asymvalley.models.kept_nets import dry_run as dry_run_solution

    return dry_run_solution(params)


experiment = Experiment(
    id="asymvalley/solution",
    version=1,
    run=run,
    grid={
        "smoke": lambda: points("smoke"),
        "cpu": lambda: points("cpu"),
        "gpu": lambda: points("gpu"),
        "paper": lambda: points("paper"),
    },
    needs=needs_of,
    estimate=estimate,
    dry_run=dry_run,
    timeout_s=24 * 3600.0,
    address=("pair", "recipe", "bn_start", "seed"),
)
