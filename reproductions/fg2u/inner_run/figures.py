"""Figure of the inner run: loss and gradient norm against steps."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.figure import Figure

from harness.publish.figures import PALETTE, FigureContext, plot_ours, plot_paper
from reproductions.fg2u.inner_run.experiment import LATER

PANELS = (("inner_loss", "inner loss (nats)"), ("gradient_norm", "norm of the inner gradient"))


def run_panels(context: FigureContext) -> Figure:
    """Draw both against inner steps, the paper's beside ours."""
    columns = 1 if context.width == "single" else 2
    figure, axes = context.subplots(2 // columns, columns, aspect=0.6 + 0.1 * columns)
    last = max(context.table["step"].max(), context.reference["x"].max())
    for ax, (value, words) in zip(axes, PANELS, strict=True):
        plot_ours(ax, context.table, x="step", y=value, label="ours", color=PALETTE[0])
        paper = context.reference[context.reference["series"] == value]
        if value == "gradient_norm":
            paper = _of_logarithms(paper)
        plot_paper(ax, paper, label="paper", color=PALETTE[1], marker="s")
        for depth in context.table["depth"].unique():
            for step in (depth, LATER * depth):
                ax.axvline(step, color="#777777", linestyle=":", linewidth=0.9)
        # The steps begin with 0.
        ax.set_xscale("symlog", linthresh=1.0)
        ax.set_xlim(-0.2, 1.5 * last)
        ax.set_yscale("log")
        ax.set(xlabel="inner steps", ylabel=words)
    context.legend_above(figure, axes[:1], 2)
    return figure


def _of_logarithms(rows: pd.DataFrame) -> pd.DataFrame:
    """Return readings of a decimal logarithm as what it is of, with the error to first order."""
    values = 10.0 ** rows["value"].astype("float64")
    return rows.assign(value=values, abs_err=math.log(10) * values * rows["abs_err"])
