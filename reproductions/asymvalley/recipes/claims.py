"""What figures of recipes claim alike, and how they are described."""

from __future__ import annotations

from functools import partial

from harness.declare import (
    CHECK,
    Claim,
    Criterion,
    Scope,
    at_least,
    at_most,
    claims,
    equal,
    more_than,
    ordering,
    ratio,
)
from reproductions.asymvalley.models.curves import widest_centre
from reproductions.asymvalley.models.scopes import ON_A_CPU, TRAINED
from reproductions.asymvalley.recipes import quantities as q
from reproductions.asymvalley.recipes.experiment import FIRST_AND_SECOND, Contrast

Declared = tuple[str, Scope, Criterion, str]

BY_ALGEBRA = (
    " By algebra it is never less, and greater by the share of coordinates whose sign differs"
    " between the two."
)
LINE_CAPTION = (
    "Two solutions, {first} (first) and {second} (second) as the paper names them. Mean and"
    " standard deviation of their parameters by group; test error on the line"
    " (1 - l) first + l second, the dotted lines mark the two; share of the parameters whose sign"
    " is that of second - first. Points and lines are means over seeds, bars and band reach to the"
    " extremes. The paper's curves are not published as numbers."
)
LINE_ALT = (
    "Four panels for two solutions: mean and spread of parameters by group, test error on the line"
    " through both, and sign consistency by group."
)
RECIPE_CAPTION = (
    "Test error under G(0,1) noise, norm-scaled with s = 1, after training with one setting"
    " changed: above raw, below sign-consistent. Lines are means over seeds and draws, bands reach"
    " to their extremes. The paper's curves are not published as numbers."
)
RECIPE_ALT = (
    "Two rows of three panels, test error against lambda for higher and lower learning rate, batch"
    " size and weight decay, raw noise above sign-consistent noise."
)

NEVER_LESS = claims(
    "Definition of the same-sign ratio, section 4.2.2",
    (
        "consistency_never_falls",
        CHECK,
        at_least(q.least_gain_of_consistency, 0, "share"),
        "In every group the second solution is at least as consistent with second - first as the"
        " first: where both have one sign the difference agrees with both or with neither, else"
        " with the second alone.",
    ),
)
FOLLOWS_LARGER: Declared = (
    "difference_follows_larger",
    TRAINED,
    ordering(q.outward_consistency, "share", strict=True),
    "The solution of the larger norm is more consistent with the way from the other to it than the"
    " other with the way back: more than half of the coordinates of equal sign are larger in it."
    " Ours; unlike the comparison on one common way it is not given by algebra.",
)


def first_is_smaller(contrast: Contrast) -> Declared:
    """Return that the first recipe's solution has the smaller norm."""
    first, second = FIRST_AND_SECOND[contrast]
    return (
        "first_is_smaller",
        TRAINED,
        ordering(partial(q.group_pair, group="all", value="norm"), "norm", strict=True),
        f"The solution of {first} has a smaller norm than that of {second}, after equally many"
        " epochs.",
    )


def batch_size_claims(where: str) -> tuple[Claim, ...]:
    """Return the claims of Figures 8 and 26."""
    first, second = FIRST_AND_SECOND["batch_size"]
    consistency = partial(q.group_pair, group="all", value="consistency")
    return NEVER_LESS + claims(
        where,
        first_is_smaller("batch_size"),
        (
            "second_more_consistent",
            TRAINED,
            ordering(consistency, "share", strict=True),
            f"With second - first, the solution of {second} is more consistent than that of"
            f" {first}, over all parameters.{BY_ALGEBRA}",
        ),
        (
            "second_more_consistent_groups",
            TRAINED,
            at_least(q.num_groups_more_consistent, 3, "groups"),
            f"The same in at least 3 of the 5 groups of parameters.{BY_ALGEBRA}",
        ),
        FOLLOWS_LARGER,
        (
            "barrier",
            TRAINED,
            ordering(q.barrier, "error", strict=True),
            "Between the two solutions the test error rises above that of both.",
        ),
    )


def scale_claims(contrast: Contrast, where: str) -> tuple[Claim, ...]:
    """Return the claims of Figures 24 and 25."""
    return NEVER_LESS + claims(
        where,
        (
            "larger_more_consistent",
            TRAINED,
            ordering(q.larger_is_more_consistent, "share", strict=True),
            "With larger - smaller, the solution of the larger norm is the more consistent one."
            + BY_ALGEBRA,
        ),
        FOLLOWS_LARGER,
        first_is_smaller(contrast),
    )


def recipe_claims(where: str) -> tuple[Claim, ...]:
    """Return the claims of Figures 9 and 23."""
    return claims(
        where,
        (
            "one_centre",
            ON_A_CPU,
            equal(partial(widest_centre, by=("recipe",)), 0, "error"),
            "At lambda = 0 every curve of one net has the same error: raw or sign-consistent,"
            " whatever the draw.",
        ),
        (
            "raw_symmetric",
            TRAINED,
            at_most(q.largest_raw_share, 0.3, "ratio"),
            "After each of the six recipes the asymmetry of raw noise is at most 0.3 times that of"
            " the sign-consistent noise, in size.",
        ),
        (
            "sign_asymmetric",
            TRAINED,
            more_than(q.least_sign_asymmetry, 0, "error"),
            "After each of the six recipes the sign-consistent noise has the flatter side at"
            " lambda > 0.",
        ),
        (
            "widths_differ",
            TRAINED,
            ratio(q.raw_spread, 1.1, float("inf")),
            "The valleys differ: the mean error of raw noise over lambda in (0, 1] differs by a"
            " factor above 1.1 between the lowest and the highest of the six. Errors at lambda = 0"
            " count in it, as nets of unlike recipes do not err alike.",
        ),
    )
