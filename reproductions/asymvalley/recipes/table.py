"""Table of the tasks on lines between two solutions, and their views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.table import Column, Table
from reproductions.asymvalley.models.columns import CE, SEED

if TYPE_CHECKING:
    import pandas as pd

    from harness.declare.table import Tables


def _value(name: str, doc: str) -> Column:
    return Column(name=name, type="float", role="value", doc=doc, nullable=True)


LINE_COLUMNS = Table(
    (
        Column(
            name="part",
            type="str",
            role="param",
            doc="line (test error on the line through both), group (statistics of parameters).",
        ),
        Column(
            name="group",
            type="str",
            role="param",
            doc="Parameters: all, bn_weight, clf_weight and clf_bias (last layer), other_weight,"
            " other_bias (BN biases among them); empty for a line.",
        ),
        Column(
            name="solution",
            type="str",
            role="param",
            doc="first (at l = 0) or second (at l = 1); empty for a line.",
        ),
        Column(
            name="x",
            type="float",
            role="param",
            doc="l of (1 - l) * first + l * second, in [-1, 2]; 0 for a group.",
        ),
        SEED,
        _value("error", "Share of wrong test predictions; empty for a group."),
        CE,
        _value("mean", "Mean of the parameters; empty for a line."),
        _value("std", "Their standard deviation; empty for a line."),
        _value("norm", "Their Euclidean norm; empty for a line."),
        _value(
            "consistency",
            "Share of them whose product with second - first is positive; empty for a line.",
        ),
    )
)

HALF_COLUMNS = Table(
    (
        Column(
            name="regime",
            type="str",
            role="param",
            doc="What both nets start from: random, or pretrained.",
        ),
        Column(
            name="part",
            type="str",
            role="param",
            doc="line (accuracy on the line through both), epoch (what is one number an epoch).",
        ),
        Column(name="epoch", type="int", role="param", doc="Epochs trained on each half."),
        Column(
            name="x",
            type="float",
            role="param",
            doc="l of (1 - l) * A + l * B, in [0, 1]; 0 for an epoch.",
        ),
        SEED,
        _value("accuracy", "Share of right test predictions; empty for an epoch."),
        _value("accuracy_a", "Of net A; empty for a line."),
        _value("accuracy_b", "Of net B; empty for a line."),
        _value("accuracy_mid", "Of the mean of both nets; empty for a line."),
        _value("gap", "accuracy_mid - (accuracy_a + accuracy_b) / 2; empty for a line."),
        _value("ssr_ia", "Share of coordinates with equal signs in start and A; empty for a line."),
        _value("ssr_ib", "The same of start and B; empty for a line."),
        _value("ssr_ab", "The same of A and B; empty for a line."),
    )
)


def line_table(frames: Tables, *, experiment: str, pair: str, contrast: str) -> pd.DataFrame:
    """Return the rows of one net and one contrast of recipes."""
    frame = frames[experiment]
    rows = frame[(frame["pair"] == pair) & (frame["contrast"] == contrast)]
    return rows[LINE_COLUMNS.names]
