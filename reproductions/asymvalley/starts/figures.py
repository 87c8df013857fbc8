"""Figures of how batch normalisation starts, and of its statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import seaborn

from harness.declare import pick
from harness.publish.figures import PALETTE, FigureContext, points
from reproductions.asymvalley.models.drawing import (
    ROWS,
    STYLES,
    lambda_axis,
    line,
    s_colors,
    s_legend,
    s_lines,
    share_heights,
    where,
)
from reproductions.asymvalley.models.pairs import BN_STARTS, Pair

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    colors = s_colors(pick(context.table, part="curve")["s"])
    for ax, start in zip(axes, BN_STARTS, strict=False):
        _weights(ax, where(context.table, bn_start=start))
        ax.set_title(START_LABELS[start])
    axes[0].set_ylabel("density")
    _share_x(axes[:count])
    for row, (norm, group, name) in enumerate(VALLEYS, start=1):
        panels = axes[count * row : count * (row + 1)]
        for ax, start in zip(panels, BN_STARTS, strict=True):
            rows = where(context.table, part="curve", bn_start=start, norm=norm, group=group)
            s_lines(ax, rows, colors, x="x")
            lambda_axis(ax)
            if row == len(VALLEYS):
                ax.set_xlabel(r"$\lambda$")
            if context.width == "single":
                ax.set_title(f"{name}\n{START_LABELS[start]}")
        panels[0].set_ylabel("test error" if context.width == "single" else f"{name}\ntest error")
        share_heights(panels)
    s_legend(figure, colors)
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
        for color, style, (kind, label) in zip(PALETTE, STYLES, STATISTICS.items(), strict=False):
            rows = where(context.table, pair=pair, bn_stats=kind, sign_consistent=row)
            line(ax, rows, x="lambda", y="error", color=color, style=style, label=label)
        lambda_axis(ax)
        ax.set_title(f"{titles[pair]}, {ROWS[row]}")
    for left, right in zip(axes[::2], axes[1::2], strict=True):
        share_heights((left, right))
        left.set_ylabel("test error")
    for ax in axes[-2:]:
        ax.set_xlabel(r"$\lambda$")
    figure.legend(
        *axes[0].get_legend_handles_labels(),
        title="BN statistics",
        loc="outside upper center",
        ncols=len(STATISTICS),
    )
    return figure


def _share_x(axes: Sequence[Axes]) -> None:
    low, high = (
        min(ax.get_xlim()[0] for ax in axes),
        max(ax.get_xlim()[1] for ax in axes),
    )
    for ax in axes:
        ax.set_xlim(low, high)
