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
)
from reproductions.asymvalley.models.curves import widest_centre
from reproductions.asymvalley.models.pairs import RECIPES
from reproductions.asymvalley.models.scopes import ON_A_CPU, TRAINED
from reproductions.asymvalley.recipes import quantities as q
from reproductions.asymvalley.recipes.experiment import CONTRASTS, FIRST_AND_SECOND, Contrast

PLACES = tuple(f"l = 0.{tenth}" for tenth in range(1, 10))
"""Where the line is evaluated between both solutions."""
SETTINGS = {"lr": "learning rate", "bs": "batch", "wd": "weight decay"}
RECIPE_NAMES = tuple(
    f"{size} {SETTINGS[setting]}" for setting, size in (name.split("_") for name in RECIPES)
)
Declared = tuple[str, Scope, Criterion, str]

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
    "The signs of the difference follow the larger solution: it is more consistent with the way"
    " from the other to it than the other with the way back. The paper compares on one common way,"
    " where the second solution is ahead by algebra.",
)


def first_is_smaller(contrast: Contrast, net: str) -> Declared:
    """Return that the first recipe's solution has the smaller norm.

    net: with its data, as the figure's title has it.
    """
    first, second = FIRST_AND_SECOND[contrast]
    return (
        "first_is_smaller",
        TRAINED,
        ordering(partial(q.group_pair, group="all", value="norm"), "norm", strict=True),
        f"For {net} the solution of {first} has a smaller norm than that of {second}, after equally"
        " many epochs.",
    )


def batch_size_claims(where: str, net: str) -> tuple[Claim, ...]:
    """Return the claims of Figures 8 and 26."""
    return NEVER_LESS + claims(
        where,
        first_is_smaller("batch_size", net),
        FOLLOWS_LARGER,
        (
            "barrier",
            TRAINED,
            more_than(q.rises_between, 0, "error").in_at_least(1).naming(*PLACES),
            "Between the two solutions there is a place where the test error is above that of"
            " both.",
        ),
    )


def scale_claims(contrast: Contrast, where: str, net: str) -> tuple[Claim, ...]:
    """Return the claims of Figures 24 and 25."""
    return NEVER_LESS + claims(
        where,
        FOLLOWS_LARGER,
        first_is_smaller(contrast, net),
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
            at_most(q.raw_shares, 0.3, "ratio").naming(*RECIPE_NAMES),
            "After each of the six recipes the asymmetry of raw noise is at most 0.3 times that of"
            " the sign-consistent noise, in size.",
        ),
        (
            "sign_asymmetric",
            TRAINED,
            more_than(q.sign_asymmetries, 0, "error").naming(*RECIPE_NAMES),
            "After each of the six recipes the sign-consistent noise has the flatter side at"
            " lambda > 0.",
        ),
        (
            "recipes_sharpen",
            TRAINED,
            more_than(q.sharper_by, 0, "error")
            .naming(*(contrast.replace("_", " ") for contrast in CONTRASTS))
            .measuring(
                "rise of the error after the recipe said to be sharper less that after the other"
            ),
            "The higher learning rate, the smaller batch and the larger weight decay each make the"
            " valley sharper than the opposite: raw noise raises the error further above that of"
            " the net itself.",
        ),
    )
