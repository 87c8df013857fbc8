"""Figure 11: two nets from one start, epoch by epoch."""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from harness.publish.figures import MARKERS, PALETTE, FigureContext, sequential
from reproductions.asymvalley.halves.experiment import REGIMES
from reproductions.asymvalley.models.drawing import line, where

RATIOS = {"ssr_ia": "SSR-IA", "ssr_ib": "SSR-IB", "ssr_ab": "SSR-AB"}


def half_line_panels(context: FigureContext) -> Figure:
    """Draw, one row per start, accuracy between both nets, gap and same-sign ratios by epoch."""
    figure, axes = context.subplots(len(REGIMES), 3, aspect=0.78)
    found = sorted(int(epoch) for epoch in context.table["epoch"].unique())
    # The first marks are those of the ratios, which the same legend names.
    marks = (*MARKERS[len(RATIOS) :], *MARKERS)
    looks = dict(zip(found, zip(sequential(len(found)), marks, strict=False), strict=True))
    for index, (regime, name) in enumerate(REGIMES.items()):
        line_ax, gap_ax, ratio_ax = axes[3 * index : 3 * index + 3]
        rows = where(context.table, regime=regime)
        for place, (epoch, (color, marker)) in enumerate(looks.items()):
            curve = where(rows, part="line", epoch=epoch)
            label = f"epoch {epoch}" if epoch == found[0] else str(epoch)
            look_of: dict[str, Any] = {"color": color, "marker": marker, "label": label}
            line(line_ax, curve, x="x", y="accuracy", **look_of)
            # Where curves lie close, marks of one stand beside those of the next.
            for drawn in line_ax.lines[place:]:
                drawn.set_markevery((place, len(looks)))
        line_ax.set(title=name, xlabel="$l$", ylabel="test accuracy")
        numbers = where(rows, part="epoch")
        line(gap_ax, numbers, x="epoch", y="gap", color=PALETTE[6], marker="o")
        gap_ax.axhline(0.0, color="#999999", linewidth=0.6, linestyle=":")
        gap_ax.set(title="gap at the middle", ylabel="test accuracy")
        for look, (ratio, label) in enumerate(RATIOS.items()):
            look_of = {"color": PALETTE[look], "marker": MARKERS[look], "label": label}
            line(ratio_ax, numbers, x="epoch", y=ratio, **look_of)
        ratio_ax.set(title="same-sign ratio", ylabel="share of weights")
        for ax in (gap_ax, ratio_ax):
            _epoch_axis(ax, found)
    # Accuracies of both starts are too far apart for one range.
    for left, right in zip(axes[1:3], axes[4:], strict=True):
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
    """Name the lines of panels above all of them, a row per panel."""
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
