"""What figures of recipes claim alike, and how they are described."""

from __future__ import annotations

from functools import partial

from harness.declare import (
    CHECK,
    Claim,
    Criterion,
    Scope,
    at_least,
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

SETTINGS = {"lr": "learning rate", "bs": "batch", "wd": "weight decay"}
RECIPE_NAMES = tuple(
    f"{size} {SETTINGS[setting]}" for setting, size in (name.split("_") for name in RECIPES)
)
Declared = tuple[str, Scope, Criterion, str]

LINE_CAPTION = (
    "Two solutions: {first} (first) and {second} (second). Mean and standard deviation of their"
    " parameters by group; test error on the line (1 - l) first + l second, on which dotted lines"
    " mark the two; share of the parameters whose sign is that of second - first. Points and lines"
    " are means over seeds; bars and bands reach to the extremes."
)
LINE_ALT = (
    "Four panels for two solutions: mean and spread of parameters by group, test error on the line"
    " through both, and sign consistency by group."
)
RECIPE_CAPTION = (
    "Test error under G(0,1) noise, norm-scaled with s = 1, after training with one setting"
    " changed. Above: raw. Below: sign-consistent. Lines are means over seeds and draws; bands"
    " reach to the extremes."
)
RECIPE_ALT = (
    "Two rows of three panels, test error against lambda for higher and lower learning rate, batch"
    " size and weight decay, raw noise above sign-consistent noise."
)
SMALLER = {
    "batch_size": "small_batch_has_smaller_weights",
    "lr": "high_rate_has_smaller_weights",
    "weight_decay": "more_decay_has_smaller_weights",
}


def line_claims(contrast: Contrast, where: str, net: str) -> tuple[Claim, ...]:
    """Return the claims of Figures 8 and 24 to 26.

    net: with its data, as the figure's title has it.
    """
    first, second = FIRST_AND_SECOND[contrast]
    return claims(
        "Definition of the same-sign ratio, section 4.2.2",
        (
            "consistency_never_falls",
            CHECK,
            at_least(q.least_gain_of_consistency, 0, "share"),
            "In every group the second solution agrees with the signs of second - first at least"
            " as much as the first.",
        ),
    ) + claims(
        where,
        (
            SMALLER[contrast],
            TRAINED,
            ordering(q.norms, "norm", strict=True).measuring("norm of the second less the first"),
            f"{net} has smaller weights after training with {first} than with {second}.",
        ),
    )


def recipe_claims(where: str, net: str, *more: Declared) -> tuple[Claim, ...]:
    """Return what Figures 9 and 23 claim, and more that one of them does."""
    return claims(
        where,
        (
            "one_centre",
            ON_A_CPU,
            equal(partial(widest_centre, by=("recipe",)), 0, "error"),
            "All curves of one net have the same error at lambda = 0.",
        ),
        *more,
        (
            "recipes_sharpen_the_valley",
            TRAINED,
            more_than(q.sharper_by, 0, "error")
            .naming(*(contrast.replace("_", " ") for contrast in CONTRASTS))
            .measuring("rise of the error along raw noise, sharper recipe less the other"),
            "A higher learning rate, a smaller batch or more weight decay makes the valley of"
            f" {net} sharper.",
        ),
    )


SIGN_NOISE: Declared = (
    "sign_noise_is_asymmetric",
    TRAINED,
    more_than(q.sign_asymmetries, 0, "error")
    .naming(*RECIPE_NAMES)
    .measuring("mean over the negative side less that over the positive side"),
    "After each of six recipes sign-consistent noise makes the valley of VGG16 asymmetric.",
)
