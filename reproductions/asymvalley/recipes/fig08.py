"""Figures 8 and 24 to 26: the line between two solutions of unlike training recipes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.old import flat_claim, old_task
from harness.declare.profiles import PROFILES
from harness.declare.task import Task
from reproductions.asymvalley.models.scopes import STRICTLY, trained
from reproductions.asymvalley.recipes.quantities import (
    barrier,
    group_pair,
    larger_is_more_consistent,
    least_gain_of_consistency,
    num_groups_more_consistent,
    outward_consistency,
)
from reproductions.asymvalley.recipes.recipe_lines import experiment
from reproductions.asymvalley.recipes.table import LINE_COLUMNS, line_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

FIRST_AND_SECOND = {
    "batch_size": ("batch size 32", "batch size 2048"),
    "lr": ("learning rate 0.1", "learning rate 0.003"),
    "weight_decay": ("weight decay 1e-3", "weight decay 1e-5"),
}
"""As in the paper; the values of a smaller run are in the rows of its experiment."""
BY_ALGEBRA = (
    " By algebra it is never less, and greater by the share of coordinates whose sign differs"
    " between the two."
)
NEVER_LESS = flat_claim(
    id="consistency_never_falls",
    statement="In every group the second solution is at least as consistent with second - first as"
    " the first: where both have one sign the difference agrees with both or with neither, else"
    " with the second alone.",
    where="Definition of the same-sign ratio, section 4.2.2",
    form="at_least",
    grade="exact",
    quantity=least_gain_of_consistency,
    threshold=0.0,
    threshold_from="theory",
    profiles=PROFILES,
    deterministic=True,
    unit="share",
)


def norms_differ(contrast: str, where: str) -> Claim:
    """Return the claim that the first recipe's solution has the smaller norm."""
    first, second = FIRST_AND_SECOND[contrast]
    return trained(
        "first_is_smaller",
        f"The solution of {first} has a smaller norm than that of {second}, after equally many"
        " epochs.",
        form="ordering",
        where=where,
        quantity=partial(group_pair, group="all", value="norm"),
        bound=STRICTLY,
        unit="norm",
    )


def way_follows_larger(where: str) -> Claim:
    """Return the claim that the difference has the larger solution's signs; ours."""
    return trained(
        "difference_follows_larger",
        "The solution of the larger norm is more consistent with the way from the other to it than"
        " the other with the way back: more than half of the coordinates of equal sign are larger"
        " in it. Ours; unlike the comparison on one common way it is not given by algebra.",
        form="ordering",
        where=where,
        quantity=outward_consistency,
        bound=STRICTLY,
        unit="share",
    )


def batch_size_claims(where: str) -> tuple[Claim, ...]:
    """Return the claims of Figures 8 and 26."""
    first, second = FIRST_AND_SECOND["batch_size"]
    return (
        NEVER_LESS,
        norms_differ("batch_size", where),
        trained(
            "second_more_consistent",
            f"With second - first, the solution of {second} is more consistent than that of"
            f" {first}, over all parameters.{BY_ALGEBRA}",
            form="ordering",
            where=where,
            quantity=partial(group_pair, group="all", value="consistency"),
            bound=STRICTLY,
            unit="share",
        ),
        trained(
            "second_more_consistent_groups",
            f"The same in at least 3 of the 5 groups of parameters.{BY_ALGEBRA}",
            form="at_least",
            where=where,
            quantity=num_groups_more_consistent,
            bound=3.0,
            unit="groups",
        ),
        way_follows_larger(where),
        trained(
            "barrier",
            "Between the two solutions the test error rises above that of both.",
            form="ordering",
            where=where,
            quantity=barrier,
            bound=STRICTLY,
        ),
    )


def scale_claims(contrast: str, where: str) -> tuple[Claim, ...]:
    """Return the claims of Figures 24 and 25."""
    return (
        NEVER_LESS,
        trained(
            "larger_more_consistent",
            "With larger - smaller, the solution of the larger norm is the more consistent one."
            + BY_ALGEBRA,
            form="ordering",
            where=where,
            quantity=larger_is_more_consistent,
            bound=STRICTLY,
            unit="share",
        ),
        way_follows_larger(where),
        norms_differ(contrast, where),
    )


def _draw(context: FigureContext, *, contrast: str) -> Figure:
    """Draw statistics of parameter groups, the line, and the consistencies."""
    from reproductions.asymvalley.recipes.figures import recipe_line_panels

    first, second = FIRST_AND_SECOND[contrast]
    return recipe_line_panels(context, first=first, second=second)


def _task(word: str, net: str, *, pair: str, contrast: str, claims: tuple[Claim, ...]) -> Task:
    first, second = FIRST_AND_SECOND[contrast]
    return old_task(
        id=f"asymvalley/{word}",
        title=f"Line between two solutions, {first} and {second}: {net}",
        reads=(experiment,),
        columns=LINE_COLUMNS,
        claims=claims,
        view=partial(line_table, experiment=experiment.id, pair=pair, contrast=contrast),
        figure=partial(_draw, contrast=contrast),
        caption=f"Two solutions, {first} (first) and {second} (second) as the paper names them."
        " Mean and standard deviation of their parameters by group; test error on the line"
        " (1 - l) first + l second, the dotted lines mark the two; share of the parameters whose"
        " sign is that of second - first. Points and lines are means over seeds, bars and band"
        " reach to the extremes. The paper's curves are not published as numbers.",
        alt="Four panels for two solutions: mean and spread of parameters by group, test error on"
        " the line through both, and sign consistency by group.",
    )


tasks = (
    _task(
        "fig08",
        "VGG16-BN on CIFAR-10",
        pair="vgg16_cifar10",
        contrast="batch_size",
        claims=batch_size_claims("Figure 8 and section 4.2.2"),
    ),
    _task(
        "fig24",
        "VGG16-BN on CIFAR-10",
        pair="vgg16_cifar10",
        contrast="lr",
        claims=scale_claims("lr", "Figure 24"),
    ),
    _task(
        "fig25",
        "VGG16-BN on CIFAR-10",
        pair="vgg16_cifar10",
        contrast="weight_decay",
        claims=scale_claims("weight_decay", "Figure 25"),
    ),
    _task(
        "fig26",
        "ResNet20 on CIFAR-10",
        pair="resnet20_cifar10",
        contrast="batch_size",
        claims=batch_size_claims("Figure 26"),
    ),
)
