"""The figure of published nets: lines are means over draws, bands reach to their extremes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.publish.figures import PALETTE, FigureContext
from reproductions.asymvalley.models.drawing import STYLES, lambda_axis, line, share_heights, where
from reproductions.asymvalley.published.experiment import CONSISTENT, RAW

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VALUES = {"error": "test error", "ce": "cross-entropy", "scaled_ce": "scaled cross-entropy"}
RATIOS = {RAW: "raw", CONSISTENT: "signs agree"}


def published_panels(context: FigureContext) -> Figure:
    """Draw nets as columns and what is measured as rows, along Gaussian noise."""
    depths = sorted(context.table["depth"].unique())
    figure, axes = context.subplots(len(VALUES), len(depths), aspect=0.7, sharex=True, turn=False)
    panels = [(value, depth) for value in VALUES for depth in depths]
    for ax, (value, depth) in zip(axes, panels, strict=True):
        for color, style, (ratio, label) in zip(PALETTE, STYLES, RATIOS.items(), strict=False):
            rows = where(context.table, depth=depth, along="gaussian", ratio=ratio)
            line(ax, rows, x="lambda", y=value, color=color, style=style, label=label)
        lambda_axis(ax)
        if value == "error":
            ax.set_title(f"ResNet{depth}")
    for row, label in enumerate(VALUES.values()):
        across = axes[row * len(depths) : (row + 1) * len(depths)]
        share_heights(across)
        across[0].set_ylabel(label)
    for ax in axes[-len(depths) :]:
        ax.set_xlabel(r"$\lambda$")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure
