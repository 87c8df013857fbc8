"""Figures of how batch normalisation starts, and of its statistics."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.publish.figures import PALETTE, FigureContext, points
from reproductions.asymvalley.models.drawing import (
    ROWS,
    name_rows,
    s_legend,
    s_lines,
    share_heights,
    two_lines,
    where,
)
from reproductions.asymvalley.models.pairs import BN_STARTS, Pair

START_LABELS = {"ones": "start 1", "uniform": "start U(0,1)", "gaussian": "start G(0,0.1)"}
VALLEYS = (
    ("ns", "all", "norm-scaled"),
    ("filter_ns", "all", "filter-NS"),
    ("ns", "bn", "BN alone"),
)
"""norm, group and name of Figure 7's rows of valleys."""
STATISTICS = {"recalibrate": "estimated anew", "frozen": "frozen"}


def start_panels(context: FigureContext) -> Figure:
    """Draw BN weights and three kinds of valley: starts as columns, a colour per width s."""
    count = len(BN_STARTS)
    figure, axes = context.subplots(1 + len(VALLEYS), count, aspect=0.58)
    for ax, start in zip(axes, BN_STARTS, strict=False):
        _weights(ax, where(context.table, bn_start=start))
        ax.set_title(START_LABELS[start])
    axes[0].set_ylabel("density")
    ends = [end for ax in axes[:count] for end in ax.get_xlim()]
    for ax in axes[:count]:
        ax.set_xlim(min(ends), max(ends))
    for row, (norm, group, name) in enumerate(VALLEYS, start=1):
        panels = axes[count * row : count * (row + 1)]
        for ax, start in zip(panels, BN_STARTS, strict=True):
            rows = where(context.table, part="curve", bn_start=start, norm=norm, group=group)
            s_lines(ax, rows, x="x")
            if row == len(VALLEYS):
                ax.set_xlabel(r"$\lambda$")
            if context.width == "single":
                ax.set_title(f"{name}\n{START_LABELS[start]}")
        panels[0].set_ylabel("test error" if context.width == "single" else f"{name}\ntest error")
        share_heights(panels)
    s_legend(figure)
    return figure


def _weights(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw the BN weights' distribution over all seeds, and say how many are > 0."""
    # Quantiles at equal steps are a sample of it.
    weights = where(rows, part="quantile")["bn_weight"].to_numpy(dtype="float64")
    seaborn.histplot(x=weights, stat="density", color=PALETTE[6], linewidth=0.0, ax=ax)
    ax.axvline(0.0, color="#999999", linewidth=0.6, linestyle=":")
    ax.set(xlabel="BN weight", ylabel="")
    share = where(rows, part="share")["bn_weight"]
    if not share.empty:
        text = f"{100 * float(share.mean()):.1f} %\npositive"
        ax.text(0.03, 0.94, text, transform=ax.transAxes, ha="left", va="top", fontsize=points(6.0))


def statistics_panels(context: FigureContext, *, titles: Mapping[Pair, str]) -> Figure:
    """Draw test error against lambda, a row per net, raw and sign-consistent beside each other."""
    figure, axes = context.subplots(len(titles), len(ROWS), aspect=0.5, sharex=True)
    panels = [(pair, row) for pair in titles for row in ROWS]
    for ax, (pair, row) in zip(axes, panels, strict=True):
        rows = where(context.table, pair=pair, sign_consistent=row)
        two_lines(ax, {label: where(rows, bn_stats=kind) for kind, label in STATISTICS.items()})
        ax.set_title(f"{titles[pair]}, {ROWS[row]}")
    name_rows(figure, axes, ["test error"] * len(titles), title="BN statistics")
    return figure
