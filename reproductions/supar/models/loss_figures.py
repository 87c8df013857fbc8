"""Figures of losses against density or along a ladder of nets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matplotlib.lines import Line2D

from harness.publish.figures import FigureContext, plot_ours, plot_paper
from reproductions.supar.models.drawing import COLORS, MARKS, density_axis, fraction, scheme_legend
from reproductions.supar.models.schemes import SCHEMES
from reproductions.supar.models.sweep_figures import INK

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def ladder_panels(context: FigureContext) -> Figure:
    """Draw loss, and operations over the dense net's, against the rungs of a ladder."""
    figure, axes = context.subplots(1, 2, aspect=0.85)
    _scheme_lines(axes[0], context.table, x="density", y="train_loss")
    axes[0].set_ylabel("train loss (nats)")
    flops = context.table.groupby("density")["train_flops"].first().sort_index(ascending=False)
    axes[1].plot(flops.index, flops / flops.iloc[0], marker="o", color="#333333")
    axes[1].set_ylabel("training operations / dense")
    widths = context.table.groupby("density")["width"].first()
    for ax in axes:
        density_axis(ax)
        ax.set_xlim(ax.get_xlim()[::-1])
        ax.set_xticks(list(widths.index), minor=False)
        rungs = zip(map(float, widths.index), widths, strict=True)
        ax.set_xticklabels([f"{fraction(density)}\n{width}" for density, width in rungs])
        ax.set_xlabel("density, width")
    scheme_legend(figure, SCHEMES)
    return figure


def beside_readings(
    context: FigureContext, *, ours: Mapping[str, str], read: str, label: str, aspect: float
) -> Figure:
    """Draw one panel per loss of ours against density, and one of the readings.

    ours: from a panel's title to its column; read: the title of the readings, where there are any.
    """
    readings = context.reference[context.reference["x_name"] == "density"]
    beside = not readings.empty
    figure, axes = context.subplots(1, len(ours) + beside, aspect=aspect)
    for ax, (title, column) in zip(axes, ours.items(), strict=False):
        _scheme_lines(ax, context.table, x="density", y=column)
        ax.set_title(title)
    if beside:
        _scheme_readings(axes[-1], readings)
        axes[-1].set_title(read)
    for ax in axes:
        density_axis(ax)
    _equal_spans(axes, of_ours=len(ours))
    axes[0].set_ylabel(label)
    bars = Line2D([], [], color=INK, marker="|", markersize=7, linestyle="", label="standard error")
    hollow = Line2D([], [], color=INK, marker="o", mfc="white", ls="--", label="arXiv v1 as read")
    scheme_legend(figure, SCHEMES, also=[bars, hollow] if beside else [bars])
    return figure


def _equal_spans(axes: Sequence[Axes], *, of_ours: int) -> None:
    """Give panels one range of densities and spans of equally many nats: one range to ours."""
    bounds = [ax.get_ylim() for ax in axes]
    ours = (min(low for low, _ in bounds[:of_ours]), max(high for _, high in bounds[:of_ours]))
    bounds = [*[ours] * of_ours, *bounds[of_ours:]]
    span = max(high - low for low, high in bounds)
    widths = [ax.get_xlim() for ax in axes]
    for ax, (low, high) in zip(axes, bounds, strict=True):
        ax.set_ylim((low + high - span) / 2, (low + high + span) / 2)
        ax.set_xlim(min(left for left, _ in widths), max(right for _, right in widths))


def _scheme_lines(ax: Axes, table: pd.DataFrame, *, x: str, y: str) -> None:
    for scheme in SCHEMES:
        rows = table[table["scheme"] == scheme]
        plot_ours(ax, rows, x=x, y=y, label="", color=COLORS[scheme], marker=MARKS[scheme])


def _scheme_readings(ax: Axes, reference: pd.DataFrame) -> None:
    for scheme, curve in reference.groupby("series", sort=False):
        name = str(scheme)
        plot_paper(ax, curve, label="", color=COLORS[name], marker=MARKS[name])
