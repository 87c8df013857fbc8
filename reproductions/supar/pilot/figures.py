"""The figures of the pilots."""

from __future__ import annotations

import math

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from harness.publish.figures import FigureContext, plot_ours
from reproductions.supar.models.drawing import COLORS, MARKS, scheme_legend
from reproductions.supar.models.schemes import LABELS
from reproductions.supar.models.sweep_figures import AXES, INK, RING, power_axis, ring

FAMILIES = {
    "sweep": "Figures 1, 6, 8, 12, 14",
    "sigma": "Figures 7, 13",
    "iso_parameter": "Figure 9",
    "fixed": "Figure 10",
    "iso_neuron": "Figure 11",
    "transfer": "Figure 3",
}
TUNED = ("lr", "init_std", "input_multiplier", "output_multiplier")
SHOWN = {"lr": AXES["log2_lr"], "init_std": AXES["log2_sigma"]}
CUT = 1.35
"""Configurations of a larger loss, over the least one, are not shown."""


def search_panels(context: FigureContext) -> Figure:
    """Draw validation loss against each tuned value, one row of panels per scheme."""
    table = context.table
    means = table.groupby(["scheme", *TUNED])["val_loss"].mean().dropna().reset_index()
    schemes = list(dict.fromkeys(table["scheme"]))
    figure, axes = context.subplots(len(schemes), 2, aspect=0.75)
    for row, scheme in enumerate(schemes):
        tried = means[means["scheme"] == scheme].sort_values("val_loss")
        shown = tried[tried["val_loss"] <= CUT * tried["val_loss"].min()]
        for ax, name in zip(axes[2 * row :], SHOWN, strict=False):
            places = [math.log2(value) for value in shown[name]]
            color = COLORS[scheme]
            ax.plot(places, shown["val_loss"], MARKS[scheme], color=color, linestyle="")
            ring(ax, places[0], shown["val_loss"].iloc[0], color, dense=False)
            power_axis(ax, SHOWN[name])
            ax.set_title(LABELS[scheme])
        axes[2 * row].set_ylabel("validation loss (nats)")
    return figure


def pilot_panels(context: FigureContext) -> Figure:
    """Draw loss against the swept value, one panel per family, one line per scheme."""
    families = list(dict.fromkeys(context.table["family"]))
    figure, axes = context.subplots(-(-len(families) // 3), 3, aspect=0.95, turn=False)
    for ax, family in zip(axes, families, strict=False):
        rows = context.table[context.table["family"] == family]
        for scheme in dict.fromkeys(rows["scheme"]):
            curve = rows[rows["scheme"] == scheme]
            color, mark = COLORS[scheme], MARKS[scheme]
            plot_ours(ax, curve, x="log2_value", y="train_loss", label="", color=color, marker=mark)
            means = curve.groupby("log2_value")["train_loss"].mean()
            ring(ax, means.idxmin(), means.min(), color, dense=False)
        power_axis(ax, AXES[rows["swept"].iloc[0]])
        ax.set_title(FAMILIES[family])
    for ax in axes[::3]:
        ax.set_ylabel("train loss (nats)")
    for ax in axes[len(families) :]:
        ax.set_visible(False)
    least = Line2D([], [], **RING, color=INK, label="least loss")
    scheme_legend(figure, list(dict.fromkeys(context.table["scheme"])), also=[least])
    return figure


def trials_panel(context: FigureContext) -> Figure:
    """Draw train and validation loss of each net, one point a seed."""
    table = context.table[context.table["density"] == 1.0]
    figure, axes = context.subplots(1, 2, aspect=0.7)
    for ax, (name, label) in zip(
        axes, {"train_loss": "train loss", "val_loss": "validation loss"}.items(), strict=True
    ):
        for place, scheme in enumerate(dict.fromkeys(table["scheme"])):
            rows = table[table["scheme"] == scheme]
            where = [place + 0.05 * at for at in range(len(rows))]
            ax.plot(where, rows[name], MARKS[scheme], color=COLORS[scheme], linestyle="")
        ax.set_xticks([])
        ax.set_ylabel(f"{label} (nats)")
    scheme_legend(figure, list(dict.fromkeys(table["scheme"])))
    return figure
