"""The figure of the pilots: one panel per family of nets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.lines import Line2D

from harness.publish.figures import FigureContext, plot_ours
from reproductions.supar.models.drawing import COLORS, MARKS, scheme_legend
from reproductions.supar.models.sweep_figures import AXES, INK, RING, power_axis, ring

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAMILIES = {
    "sweep": "Figures 1, 6, 8, 12, 14",
    "sigma": "Figures 7, 13",
    "iso_parameter": "Figure 9",
    "fixed": "Figure 10",
    "iso_neuron": "Figure 11",
    "transfer": "Figure 3",
}


def pilot_panels(context: FigureContext) -> Figure:
    """Draw loss against the swept value, one panel per family, one line per scheme."""
    families = list(dict.fromkeys(context.table["family"]))
    figure, axes = context.subplots(-(-len(families) // 3), 3, aspect=0.95, turn=False)
    for ax, family in zip(axes, families, strict=False):
        rows = context.table[context.table["family"] == family]
        for scheme, curve in rows.groupby("scheme", sort=False):
            color, mark = COLORS[scheme], MARKS[scheme]
            plot_ours(ax, curve, x="log2_value", y="train_loss", label="", color=color, marker=mark)
            best = curve.sort_values("train_loss").iloc[0]
            ring(ax, best["log2_value"], best["train_loss"], color, dense=False)
        power_axis(ax, AXES[rows["swept"].iloc[0]])
        ax.set_title(FAMILIES[family])
    for ax in axes[::3]:
        ax.set_ylabel("train loss (nats)")
    for ax in axes[len(families) :]:
        ax.set_visible(False)
    least = Line2D([], [], **RING, color=INK, label="least loss")
    scheme_legend(figure, list(dict.fromkeys(context.table["scheme"])), also=[least])
    return figure
