"""The figure of published nets: lines are means over draws, bands reach to their extremes."""

from __future__ import annotations

from matplotlib.figure import Figure

from harness.publish.figures import FigureContext
from reproductions.asymvalley.models.drawing import name_rows, two_lines, where
from reproductions.asymvalley.published.experiment import CONSISTENT, RAW

VALUES = {"error": "test error", "ce": "cross-entropy", "scaled_ce": "scaled cross-entropy"}
RATIOS = {RAW: "raw", CONSISTENT: "signs agree"}


def published_panels(context: FigureContext) -> Figure:
    """Draw nets as columns and what is measured as rows, along Gaussian noise."""
    depths = sorted(context.table["depth"].unique())
    figure, axes = context.subplots(len(VALUES), len(depths), aspect=0.7, sharex=True, turn=False)
    panels = [(value, depth) for value in VALUES for depth in depths]
    for ax, (value, depth) in zip(axes, panels, strict=True):
        rows = where(context.table, depth=depth, along="gaussian")
        parts = {label: where(rows, ratio=ratio) for ratio, label in RATIOS.items()}
        two_lines(ax, parts, y=value)
        if value == "error":
            ax.set_title(f"ResNet{depth}")
    name_rows(figure, axes, list(VALUES.values()))
    return figure
