"""Figure of an all-gather's time, and of what PaRO-CC saves."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.declare.table import matching
from harness.publish.figures import MARKERS, PALETTE, FigureContext, plot_ours
from reproductions.paro.ring_times.experiment import ALGORITHMS, GPUS, LINKS

READINGS = {
    "time_saved_percent": ("time saved", "-"),
    "speed_gained_percent": ("speed gained", ":"),
}
RANGE = ("communication_gain_lowest_over_Ring", "communication_gain_highest_over_Ring")


def gather_panels(context: FigureContext) -> Figure:
    """Draw, for both ways of links, milliseconds and what two steps save in either reading."""
    rows = matching(context.table, {"size": "fixed", "links": "paper"})
    wide = context.width == "double"
    figure, axes = context.subplots(*((2, 2) if wide else (4, 1)), aspect=0.62)
    for column, (nic, words) in enumerate(LINKS.items()):
        own = rows[rows["nic"] == nic]
        _times(axes[column], own)
        axes[column].set_title(words)
        _savings(axes[column + 2], own[own["algorithm"] == "two_step"], context.reference)
        axes[column + 2].set_title(f"two steps over one ring, {words}")
    for ax in axes:
        ax.set_xscale("log", base=2)
        ax.set_xticks(GPUS, [str(number) for number in GPUS])
        ax.set_xlabel("GPUs")
    # The lines of the other panel leave no room for it.
    axes[2].legend(loc="lower left")
    context.legend_above(figure, axes[:1], 4, narrow=2)
    return figure


def _times(ax: Axes, rows: pd.DataFrame) -> None:
    for (name, label), color, marker in zip(ALGORITHMS.items(), PALETTE, MARKERS, strict=False):
        own = rows[rows["algorithm"] == name]
        plot_ours(ax, own, x="num_gpus", y="time_ms", label=label, color=color, marker=marker)
    ax.set_ylim(0, 110)
    ax.set_ylabel("time (ms)")


def _savings(ax: Axes, rows: pd.DataFrame, reference: pd.DataFrame) -> None:
    for (column, (label, style)), marker in zip(READINGS.items(), MARKERS, strict=False):
        plot_ours(
            ax, rows, x="num_gpus", y=column, label=label, color=PALETTE[2], marker=marker,
            style=style,
        )  # fmt: skip
    ends = reference[reference["y_name"].isin(RANGE)]["value"]
    if len(ends) == len(RANGE):
        ax.axhspan(ends.min(), ends.max(), color="#cccccc", label="the paper's range", zorder=0)
    ax.set_yscale("log")
    ax.set_ylim(0.3, 3000)
    ax.set_ylabel("%")
