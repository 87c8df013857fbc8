"""Figure of the convex problem: mean suboptimality against steps."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.publish.figures import MARKERS, PALETTE, FigureContext, log_numbers, plot_ours
from reproductions.lisa.models.figures import legend_above

POLICIES = {
    "keep_all": "moments kept",
    "drop_refrozen": "moments dropped on freezing",
    "reset_all": "all moments reset",
}
"""In the order of the legend."""
STYLES = ("-", "--", ":")
EVERY = 6
"""Points between two marks of a line: those of lines that coincide stand beside each other."""


def rate_panels(context: FigureContext) -> Figure:
    """Draw one panel per weight decay, one line per policy, and the theorem's slope."""
    decays = sorted(context.table["decay"].unique(), reverse=True)
    figure, axes = context.subplots(1, len(decays), aspect=0.8, sharey=True)
    for ax, decay in zip(axes, decays, strict=True):
        rows = context.table[context.table["decay"] == decay]
        for place, (policy, label) in enumerate(POLICIES.items()):
            own, drawn = rows[rows["policy"] == policy], len(ax.lines)
            look = {"color": PALETTE[place], "marker": MARKERS[place], "style": STYLES[place]}
            plot_ours(ax, own, x="num_steps", y="mean_gap", label=label, **look)
            for line in ax.lines[drawn:]:
                line.set_markevery((EVERY // len(POLICIES) * place, EVERY))
        _guide(ax, rows)
        ax.set_title(f"weight decay {decay:g}")
        ax.set_xlabel("steps T")
    for ax in axes:
        ax.set_xscale("log")
    log_numbers(axes[0].yaxis)  # of both
    axes[0].set_ylabel("mean of f_reg(w_t) - f_reg*")
    legend_above(figure, axes, columns=len(POLICIES) + 1)
    return figure


def _guide(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw T^-1/2 over the last decade, above the mean of the last points."""
    end = float(rows["num_steps"].max())
    height = 1.7 * float(rows.loc[rows["num_steps"] == end, "mean_gap"].mean())
    ax.plot(
        [end / 10, end], [height * 10**0.5, height], color=PALETTE[6], ls=":", label="slope -1/2"
    )  # fmt: skip
