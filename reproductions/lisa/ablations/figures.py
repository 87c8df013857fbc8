"""Figures of LISA's own settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.table import matching
from harness.publish.figures import MARKERS, PALETTE, FigureContext, plot_ours
from reproductions.lisa.ablations.table import lines
from reproductions.lisa.models.figures import end_points, legend_above

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NUM_COLORS = 7
"""Lines beyond so many are dashed, in the same colours again."""


def ends(context: FigureContext) -> Figure:
    """Draw every run's held-out loss as a dot, and the mean of each setting as a bar."""
    groups = [(line.head, matching(context.table, line.where)) for line in lines()]
    groups = [(head.replace(", ", ",\n"), rows) for head, rows in groups]
    shown = [(head, rows) for head, rows in groups if len(rows)]
    figure = end_points(context, shown, value="test_loss", label="held-out loss (nats per token)")
    for label in figure.axes[0].get_xticklabels():
        label.set(rotation=30, ha="right")
    return figure


def rates(context: FigureContext) -> Figure:
    """Draw the validation loss against the learning rate, one line per setting."""
    figure, (ax,) = context.subplots(aspect=0.6)
    for number, line in enumerate(lines()):
        rows = matching(context.table, line.where)
        if len(rows):
            plot_ours(
                ax, rows, x="lr", y="validation_loss", label=line.head,
                color=PALETTE[number % NUM_COLORS], marker=MARKERS[number % len(MARKERS)],
                style="-" if number < NUM_COLORS else "--",
            )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xlabel("learning rate")
    ax.set_ylabel("validation loss (nats per token)")
    legend_above(figure, [ax], columns=3)
    return figure
