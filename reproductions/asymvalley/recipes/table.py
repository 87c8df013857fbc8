"""Tables of recipes: a row per point of a curve, or per group of a net's parameters."""

from __future__ import annotations

from harness.declare import Table, columns_of, param, value
from reproductions.asymvalley.models.columns import (
    CE,
    DRAW,
    LAMBDA,
    MEASURED,
    SEED,
    SIGN_CONSISTENT,
    rows_where,
)
from reproductions.asymvalley.models.pairs import RECIPES, Training
from reproductions.asymvalley.recipes.experiment import Contrast, recipe_lines, recipes

PLACE = (
    param(
        "part",
        str,
        "line (test error on the line through both), group (statistics of parameters).",
    ),
    param(
        "group",
        str,
        "Parameters: all, bn_weight, clf_weight and clf_bias (last layer), other_weight,"
        " other_bias (BN biases among them); empty for a line.",
    ),
    param("solution", str, "first (at l = 0) or second (at l = 1); empty for a line."),
    param("x", float, "l of (1 - l) * first + l * second, in [-1, 2]; 0 for a group."),
)
STATISTICS = (
    value("mean", float, "Mean of the parameters; empty for a line.", nullable=True),
    value("std", float, "Their standard deviation; empty for a line.", nullable=True),
    value("norm", float, "Their Euclidean norm; empty for a line.", nullable=True),
    value(
        "consistency",
        float,
        "Share of them whose product with second - first is positive; empty for a line.",
        nullable=True,
    ),
)
LINE_ERROR = value(
    "error", float, "Share of wrong test predictions; empty for a group.", nullable=True
)


def curves(pair: str) -> Table:
    """Return the curves around one net's six recipes."""
    row = (*columns_of(Training, "recipe"), SIGN_CONSISTENT, DRAW, LAMBDA, SEED)
    return rows_where(recipes, row, MEASURED, pair=(pair,), recipe=RECIPES)


def line(pair: str, contrast: Contrast) -> Table:
    """Return the line between one net's two recipes, and the statistics of both."""
    values = (LINE_ERROR, CE, *STATISTICS)
    return rows_where(recipe_lines, PLACE, SEED, values, pair=(pair,), contrast=(contrast,))
