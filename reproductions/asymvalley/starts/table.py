"""Table of the tasks on starts, recipes, BN statistics and activations, and their views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.table import Column, Table
from reproductions.asymvalley.models.columns import (
    CE,
    DRAW,
    ERROR,
    LAMBDA,
    MEASURED,
    PAIR,
    SEED,
    SIGN_CONSISTENT,
)

if TYPE_CHECKING:
    import pandas as pd

    from harness.declare.table import Tables


def _share(name: str, doc: str) -> Column:
    return Column(name=name, type="float", role="value", doc=doc)


def _of_solution(name: str, doc: str) -> Column:
    return Column(name=name, type="float", role="value", doc=doc, nullable=True)


BN_START = Column(
    name="bn_start",
    type="str",
    role="param",
    doc="How BN weights start: ones, uniform U(0,1), or gaussian G(0,0.1).",
)
RECIPE = Column(
    name="recipe",
    type="str",
    role="param",
    doc="What is changed of the base training: learning rate (lr), batch size (bs) or weight decay"
    " (wd), to its higher or lower value; base where nothing is.",
)

START_COLUMNS = Table(
    (
        BN_START,
        Column(
            name="part",
            type="str",
            role="param",
            doc="curve (a valley), quantile (of all BN weights), share (of positive BN weights).",
        ),
        Column(
            name="norm",
            type="str",
            role="param",
            doc="Of a curve: ns (one factor for the whole noise) or filter_ns (one a filter, the"
            " weight's own size where there is no filter); else empty.",
        ),
        Column(
            name="group",
            type="str",
            role="param",
            doc="Of a curve: parameters that get noise, all or bn (BN weights alone); else empty.",
        ),
        Column(name="s", type="float", role="param", doc="Width factor of a curve; else 0."),
        Column(name="draw", type="int", role="param", doc="Draw of a curve's noise; else 0."),
        Column(
            name="x",
            type="float",
            role="param",
            doc="Of a curve: lambda, in [-1, 1]; of a quantile: its place, in [0, 1]; else 0.",
        ),
        SEED,
        Column(
            name="error",
            type="float",
            role="value",
            doc="Share of wrong test predictions; empty unless a curve.",
            nullable=True,
        ),
        CE,
        Column(
            name="bn_weight",
            type="float",
            role="value",
            doc="Of a quantile: the BN weight; of a share: that share; empty for a curve.",
            nullable=True,
        ),
    )
)

RECIPE_COLUMNS = Table((RECIPE, SIGN_CONSISTENT, DRAW, LAMBDA, SEED, *MEASURED))

STATISTICS_COLUMNS = Table(
    (
        PAIR,
        Column(
            name="bn_stats",
            type="str",
            role="param",
            doc="BN statistics at each point: recalibrate (estimated anew) or frozen (those of"
            " training).",
        ),
        SIGN_CONSISTENT,
        DRAW,
        LAMBDA,
        SEED,
        ERROR,
        CE,
    )
)

ACTIVATION_COLUMNS = Table(
    (
        DRAW,
        LAMBDA,
        SEED,
        _share("on_on", "Share of hidden units that are on for theta_f and for the noisy net."),
        _share("on_off", "On for theta_f, off for the noisy net."),
        _share("off_on", "Off for theta_f, on for the noisy net."),
        _share("off_off", "Off for both."),
        _share("agreement", "Share of units in the same state: on_on + off_off."),
    )
)

SOLUTION_COLUMNS = Table(
    (
        PAIR,
        RECIPE,
        BN_START,
        SEED,
        _of_solution("train_error", "Share of wrong predictions on the training set."),
        _of_solution("test_error", "Share of wrong test predictions."),
        _of_solution("test_ce", "Mean cross-entropy on the test set in nats."),
        _of_solution("norm", "Euclidean norm of theta_f, all learnable parameters."),
        _of_solution(
            "init_sign_agreement", "Share of coordinates whose sign is that of the start."
        ),
        _of_solution("sign_gradient_cosine", "Cosine of sign(theta_f) and the loss's gradient."),
        _of_solution("bn_positive_share", "Share of positive BN weights; empty without BN too."),
    )
)
"""Values are empty where the training diverged."""


def of_pair(frames: Tables, *, experiment: str, pair: str, columns: Table) -> pd.DataFrame:
    """Return an experiment's rows of one net, which the columns of the table need not name."""
    frame = frames[experiment]
    return frame[frame["pair"] == pair][columns.names]
