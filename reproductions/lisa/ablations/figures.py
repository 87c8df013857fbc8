"""Figures of LISA's own settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.table import matching
from harness.publish.figures import FigureContext
from reproductions.lisa.ablations.table import LINES
from reproductions.lisa.models.figures import end_points, rate_lines
from reproductions.lisa.models.names import LABELS
from reproductions.lisa.models.stand_ins import FIGURE_6

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def ends(context: FigureContext) -> Figure:
    """Draw every run's held-out loss as a dot, and the mean of each setting as a bar."""
    runs = {head.replace(", ", ",\n"): rows for head, rows in by_setting(context).items()}
    shown = {head: rows for head, rows in runs.items() if len(rows)}
    figure = end_points(context, shown, value="test_loss", label="held-out loss (nats per token)")
    for label in figure.axes[0].get_xticklabels():
        label.set(rotation=30, ha="right")
    return figure


def rates(context: FigureContext) -> Figure:
    """Draw the validation loss against the learning rate, one line per setting."""
    runs = by_setting(context)
    return rate_lines(context, runs, value="validation_loss", split="validation", columns=3)


def staged_rates(context: FigureContext) -> Figure:
    """Draw the validation loss against the learning rate, one line per model and method."""
    runs = {
        f"{FIGURE_6.get(str(model), str(model))}, {LABELS[str(method)]}": rows
        for (model, method), rows in context.table.groupby(["model", "method"], sort=False)
    }
    return rate_lines(context, runs, value="validation_loss", split="validation", columns=3)


def by_setting(context: FigureContext) -> dict[str, pd.DataFrame]:
    """Return the rows of every setting by its head; there may be none."""
    return {line.head: matching(context.table, line.where) for line in LINES}
