"""Figures of lines between two solutions, and of what their parameters share.

Lines and points are means over seeds, bands and bars reach to their extremes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.ticker import (
    FixedLocator,
    LogFormatterSciNotation,
    LogLocator,
    NullLocator,
    StrMethodFormatter,
)

from harness.publish.figures import MARKERS, PALETTE, FigureContext, sequential
from reproductions.asymvalley.method.directions import PARTITION
from reproductions.asymvalley.valleys.figures import line, where

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PART_LABELS = dict(
    zip(
        PARTITION,
        ("BN\nweight", "CLF\nweight", "CLF\nbias", "other\nweight", "other\nbias"),
        strict=True,
    )
)
STATISTIC_TITLES = {"mean": "mean", "std": "standard deviation", "consistency": "sign consistency"}
REGIMES = {"random": "random start", "pretrained": "pre-trained start"}
RATIOS = {"ssr_ia": "I and A", "ssr_ib": "I and B", "ssr_ab": "A and B"}


def recipe_line_panels(context: FigureContext, *, first: str, second: str) -> Figure:
    """Draw mean and spread of parameter groups, the line, and the sign consistencies."""
    figure, axes = context.subplots(2, 2, aspect=0.56)
    names = {"first": f"first: {first}", "second": f"second: {second}"}
    mean_ax, std_ax, line_ax, consistency_ax = axes
    for ax, value in zip((mean_ax, std_ax, consistency_ax), STATISTIC_TITLES, strict=True):
        _group_marks(ax, context.table, value, names)
        ax.set_title(STATISTIC_TITLES[value])
    # Groups differ by orders of magnitude; an untrained group has no spread to take a log of.
    std_ax.set_yscale("log", nonpositive="mask")
    # Labels at 1, 2 and 5 of a decade: by default there are more than fit.
    std_ax.yaxis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
    std_ax.yaxis.set_minor_formatter(LogFormatterSciNotation(minor_thresholds=(99, 99)))
    consistency_ax.axhline(0.5, color="#999999", linewidth=0.6, linestyle=":")
    consistency_ax.set_ylim(0.0, 1.05)
    line(line_ax, where(context.table, part="line"), x="x", y="error", color=PALETTE[6])
    for place, color in zip((0.0, 1.0), PALETTE, strict=False):
        line_ax.axvline(place, color=color, linewidth=1.0, linestyle=":")
    line_ax.set(title="line through both", xlabel="$l$", ylabel="test error")
    line_ax.set_ylim(bottom=0.0)
    figure.legend(*mean_ax.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def _group_marks(ax: Axes, table: pd.DataFrame, value: str, names: dict[str, str]) -> None:
    """Draw one statistic by parameter group, a mark a solution, bars to the extremes."""
    for index, (solution, name) in enumerate(names.items()):
        rows = where(table, part="group", solution=solution)
        rows = rows[rows["group"].isin(list(PARTITION))]
        found = rows.groupby("group")[value].agg(["mean", "min", "max"])
        places = [PARTITION.index(group) + 0.24 * index - 0.12 for group in found.index]
        ax.errorbar(
            places,
            found["mean"].to_numpy(),
            # A mean of equal numbers may miss them by a rounding.
            yerr=[
                (found["mean"] - found["min"]).clip(lower=0.0).to_numpy(),
                (found["max"] - found["mean"]).clip(lower=0.0).to_numpy(),
            ],
            color=PALETTE[index],
            marker=MARKERS[index],
            linestyle="",
            elinewidth=0.8,
            label=name,
        )
    ax.set_xticks(range(len(PARTITION)), labels=list(PART_LABELS.values()))
    ax.set_xlim(-0.5, len(PARTITION) - 0.5)


def half_line_panels(context: FigureContext) -> Figure:
    """Draw, a row a start: accuracy between both nets, gap and same-sign ratios by epoch."""
    figure, axes = context.subplots(len(REGIMES), 3, aspect=0.78)
    found = sorted(int(epoch) for epoch in context.table["epoch"].unique())
    colors = dict(zip(found, sequential(len(found)), strict=True))
    for index, (regime, name) in enumerate(REGIMES.items()):
        line_ax, gap_ax, ratio_ax = axes[3 * index : 3 * index + 3]
        rows = where(context.table, regime=regime)
        for epoch, color in colors.items():
            curve = where(rows, part="line", epoch=epoch)
            label = f"epoch {epoch}" if epoch == found[0] else str(epoch)
            line(line_ax, curve, x="x", y="accuracy", color=color, label=label)
        line_ax.set(title=name, xlabel="$l$", ylabel="test accuracy")
        numbers = where(rows, part="epoch")
        line(gap_ax, numbers, x="epoch", y="gap", color=PALETTE[6], marker="o")
        gap_ax.axhline(0.0, color="#999999", linewidth=0.6, linestyle=":")
        gap_ax.set_title("gap at the middle")
        for look, (ratio, label) in enumerate(RATIOS.items()):
            look_of = {"color": PALETTE[look], "marker": MARKERS[look], "label": label}
            line(ratio_ax, numbers, x="epoch", y=ratio, **look_of)
        ratio_ax.set_title("share of equal signs")
        for ax in (gap_ax, ratio_ax):
            _epoch_axis(ax, found)
    for left, right in zip(axes[:3], axes[3:], strict=True):
        _join_heights(left, right)
    _legend(figure, axes[0], axes[2])
    return figure


def _epoch_axis(ax: Axes, found: list[int]) -> None:
    """Make the horizontal axis one of epochs, which are about equally far apart as logarithms."""
    ax.set_xscale("log")
    ax.set_xlabel("epoch")
    ax.xaxis.set_major_locator(FixedLocator(found))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))


def _join_heights(one: Axes, other: Axes) -> None:
    low = min(ax.get_ylim()[0] for ax in (one, other))
    high = max(ax.get_ylim()[1] for ax in (one, other))
    # Marks at the edge must not be cut.
    margin = 0.05 * (high - low)
    for ax in (one, other):
        ax.set_ylim(low - margin, high + margin)


def _legend(figure: Figure, *panels: Axes) -> None:
    """Name the lines of panels above all of them, a row a panel."""
    from itertools import chain, zip_longest

    from matplotlib.lines import Line2D

    rows = [list(zip(*ax.get_legend_handles_labels(), strict=True)) for ax in panels]
    # A legend is filled column by column.
    blank = (Line2D([], [], linestyle=""), "")
    entries = list(chain.from_iterable(zip_longest(*rows, fillvalue=blank)))
    if entries:
        handles, labels = zip(*entries, strict=True)
        columns = max(len(row) for row in rows)
        figure.legend(
            handles,
            labels,
            loc="outside upper center",
            ncols=columns,
            handlelength=1.4,
            columnspacing=0.9,
        )
