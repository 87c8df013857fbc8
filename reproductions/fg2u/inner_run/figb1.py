"""Figure B.1: an inner run is far from a stationary point where unrolls end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import Table, Task, columns_of, param, pick, value
from reproductions.fg2u.condensing.experiment import DEPTHS
from reproductions.fg2u.inner_run.experiment import LATER, InnerRun, runs

if TYPE_CHECKING:
    import pandas as pd

DEPTH = DEPTHS["cpu"]
PAPER_STEPS = (100, 1998)
"""The step that the text argues from, and the last one that was read."""


def fall(table: pd.DataFrame) -> float:
    """Return the gradient's norm after T inner steps over that after 20 T."""
    early, late = (pick(table, step=step)["gradient_norm"] for step in (DEPTH, LATER * DEPTH))
    return float(early.iloc[0] / late.iloc[0])


def paper_fall(reference: pd.DataFrame) -> float:
    """Return the same of the paper's readings."""
    norms = reference[reference["y_name"] == "log10_gradient_norm"].set_index("x")["value"]
    early, late = (float(norms[step]) for step in PAPER_STEPS)
    return float(10 ** (early - late))


task = Task(
    "fg2u/figb1",
    reads=(runs,),
    table=Table.of(
        columns_of(InnerRun, "depth"),
        param("step", int, "Inner steps done."),
        columns_of(InnerRun, "seed"),
        value("inner_loss", float, "Mean cross-entropy on the condensed images, nats."),
        value("gradient_norm", float, "Norm of its gradient by the net's weights."),
    ),
    figure="figures:run_panels",
    caption="Loss of a fresh net on condensed images, and the norm of its gradient, against inner"
    " steps. Filled: ten condensed digits, means over seeds with their standard error; hollow: the"
    " paper's CIFAR-100 with 50 images per class. Dotted: the unroll T that our images were"
    " condensed with, and twenty times T. Each has its own net, loss and step size, so that the"
    " heights do not compare, the fall does.",
    alt="Two log-log panels against inner steps: the inner loss and the gradient's norm fall for"
    " long after the unroll's length, on ten condensed digits and in the paper.",
)
