"""Noise around nets of six recipes, and the line between nets of two: Figures 8, 9, 23 to 26."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from harness.declare import Experiment, Profile, Use, doc
from reproductions.asymvalley.models.costs import estimate_of, needs_of, point_s
from reproductions.asymvalley.models.pairs import (
    RECIPES,
    DrawnCurves,
    Pair,
    Recipe,
    Training,
    drawn_curves_of,
)
from reproductions.asymvalley.trained_nets.experiment import (
    TUNED,
    nets,
    trainings,
    walk_experiment,
)

Contrast = Literal["batch_size", "lr", "weight_decay"]
CONTRASTS: dict[Contrast, tuple[Recipe, Recipe]] = {
    "batch_size": ("bs_small", "bs_large"),
    "lr": ("lr_high", "lr_low"),
    "weight_decay": ("wd_high", "wd_low"),
}
"""First and second net of each contrast, in the paper's order."""
FIRST_AND_SECOND: dict[Contrast, tuple[str, str]] = {
    "batch_size": ("batch size 32", "batch size 2048"),
    "lr": ("learning rate 0.1", "learning rate 0.003"),
    "weight_decay": ("weight decay 1e-3", "weight decay 1e-5"),
}
"""As in the paper; what a smaller run has in their place, `stands_in` tells."""
SHOWN: tuple[tuple[Pair, Contrast], ...] = (
    ("vgg16_cifar10", "batch_size"),
    ("vgg16_cifar10", "lr"),
    ("vgg16_cifar10", "weight_decay"),
    ("resnet20_cifar10", "batch_size"),
)


class Line(Training):
    """The line between nets of two recipes; the training is the first one's."""

    second_recipe: Recipe = doc("Recipe of the second net.")
    second_lr: float = doc("Learning rate of the second net.")
    second_batch_size: int = doc("Images per step of the second net.")
    second_weight_decay: float = doc("Weight decay of the second net.")
    contrast: Contrast = doc("What the two recipes differ in.")
    num_places: int = doc("Points of the line.")

    def second_training(self) -> Training:
        """Return the training of the second net."""
        return replace(
            self.training(),
            recipe=self.second_recipe,
            lr=self.second_lr,
            batch_size=self.second_batch_size,
            weight_decay=self.second_weight_decay,
        )


def recipe_grid(profile: Profile) -> Iterator[DrawnCurves]:
    """Yield one trial per pair, recipe and seed."""
    for training in trainings(profile, *TUNED, recipes=RECIPES):
        yield drawn_curves_of(profile, training)


def line_grid(profile: Profile) -> Iterator[Line]:
    """Yield one line per contrast and seed, over l in [-1, 2].

    Steps of a tenth, so that both nets are among the points.
    """
    for pair, contrast in SHOWN:
        firsts, seconds = (
            trainings(profile, pair, recipes=[recipe]) for recipe in CONTRASTS[contrast]
        )
        for first, second in zip(firsts, seconds, strict=True):
            yield Line(
                **vars(first),
                second_recipe=second.recipe,
                second_lr=second.lr,
                second_batch_size=second.batch_size,
                second_weight_decay=second.weight_decay,
                contrast=contrast,
                num_places=4 if profile == "smoke" else 31,
            )


recipes = walk_experiment(
    "asymvalley/recipes",
    params=DrawnCurves,
    grid=recipe_grid,
    run=".recipes.trial:recipe_rows",
    num_points=lambda params: 2 * params.num_draws * params.num_points,
    address=("pair", "recipe", "seed"),
)
recipe_lines = Experiment(
    "asymvalley/recipe_lines",
    version=1,
    params=Line,
    grid=line_grid,
    run="trial:line_rows",
    needs=needs_of,
    uses=(
        Use(experiment=nets, params=Line.training),
        Use(experiment=nets, params=Line.second_training),
    ),
    estimate=lambda params: estimate_of(params.num_places * point_s(params)),
    address=("pair", "contrast", "seed"),
)
