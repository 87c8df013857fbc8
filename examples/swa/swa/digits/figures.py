"""Curves of accuracy."""

from __future__ import annotations

from matplotlib.figure import Figure

from harness.declare import pick
from harness.publish.figures import MARKERS, PALETTE, FigureContext, plot_ours

CURVES = (
    ("sgd", "accuracy", "SGD"),
    ("swa", "net_accuracy", "the nets that SWA averages"),
    ("swa", "accuracy", "SWA"),
)


def curves(context: FigureContext) -> Figure:
    """Draw both methods, and the nets that SWA averages."""
    figure, (ax,) = context.subplots()
    for (method, y, label), color, marker in zip(CURVES, PALETTE, MARKERS, strict=False):
        rows = pick(context.table, method=method)
        plot_ours(ax, rows, x="epoch", y=y, label=label, color=color, marker=marker)
    ax.set(xlabel="epoch", ylabel="test accuracy")
    ax.legend()
    return figure
