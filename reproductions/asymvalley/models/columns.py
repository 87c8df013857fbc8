"""Table of the tasks on valley curves, and their views of the experiments' long frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.declare.table import Column, Table

if TYPE_CHECKING:
    import pandas as pd

    from harness.declare.table import Tables

PAIR = Column(
    name="pair",
    type="str",
    role="param",
    doc="Net and data as the paper names them; smaller stand-ins below profile `paper`.",
)
NOISE = Column(
    name="noise",
    type="str",
    role="param",
    doc="Kind of the i.i.d. noise: gaussian G(0,1), uniform U(-1,1), ternary {-1,0,1},"
    " gaussian_mean1 G(1,1), uniform01 U(0,1), binary {0,1}, ones {1}.",
)
DIRECTION = Column(
    name="direction",
    type="str",
    role="param",
    doc="Direction made of the weights: theta_0 (the start), theta_f (the converged net), sign and"
    " sgp of theta_f (+1/-1, and 1/0), and both of theta_f minus its mean per tensor (_centred).",
)
GROUP = Column(
    name="group",
    type="str",
    role="param",
    doc="Parameters that get noise: all, clf (last layer's weights), feat (all weights but these),"
    " layer1 (first blocks), conv (convolution weights), bn (batch normalization).",
)
SIGN_CONSISTENT = Column(
    name="sign_consistent",
    type="bool",
    role="param",
    doc="Whether the noise has the signs of the converged weights: |eps| * sign(theta_f).",
)
RATIO = Column(
    name="ratio",
    type="float",
    role="param",
    doc="Share of coordinates whose noise got the sign of its weight; the others stay random.",
)
S = Column(
    name="s",
    type="float",
    role="param",
    doc="Width factor: norm of the noise over that of theta_f.",
)
DRAW = Column(
    name="draw",
    type="int",
    role="param",
    doc="Number of the noise's draw; raw and sign-consistent rows share a draw.",
)
LAMBDA = Column(
    name="lambda",
    type="float",
    role="param",
    doc="Place on the line, in [-1, 1]; the converged net is at 0.",
)
SEED = Column(name="seed", type="int", role="seed", doc="One trained net, start and batches.")
NOISE_SEED = Column(
    name="seed", type="int", role="seed", doc="Of the noise: pre-trained nets are not trained here."
)
ERROR = Column(name="error", type="float", role="value", doc="Share of wrong test predictions.")
CE = Column(
    name="ce",
    type="float",
    role="value",
    doc="Mean cross-entropy on the test set in nats; empty where it is not finite.",
    nullable=True,
)
SIGN_CONSISTENCY = Column(
    name="sign_consistency",
    type="float",
    role="value",
    doc="Share of the perturbed coordinates whose step has the sign of the converged weight; a zero"
    " has none.",
)
MEASURED = (ERROR, CE, SIGN_CONSISTENCY)

NOISE_COLUMNS = Table((PAIR, NOISE, SIGN_CONSISTENT, S, DRAW, LAMBDA, SEED, *MEASURED))
RATIO_COLUMNS = Table((PAIR, RATIO, DRAW, LAMBDA, SEED, *MEASURED))
DIRECTION_COLUMNS = Table((PAIR, DIRECTION, S, LAMBDA, SEED, *MEASURED))
GROUP_COLUMNS = Table((PAIR, GROUP, SIGN_CONSISTENT, DRAW, LAMBDA, NOISE_SEED, *MEASURED))


def rows_of(
    frames: Tables, *, experiment: str, pairs: Sequence[str], columns: Table
) -> pd.DataFrame:
    """Return an experiment's rows of some nets, with the columns of a table.

    A net that diverged in training has no curve, so no row; its seed is missing, then.
    """
    frame = frames[experiment].reindex(columns=columns.names)
    return frame[frame["pair"].isin(list(pairs)) & frame["lambda"].notna()]
