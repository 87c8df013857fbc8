"""Figures of losses against density or along a ladder of nets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.figures import FigureContext, plot_ours, plot_paper
from reproductions.supar.figure_parts import COLORS, MARKS, density_axis, fraction, scheme_legend
from reproductions.supar.grids import SCHEMES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def best_loss_panels(context: FigureContext) -> Figure:
    """Draw train loss, test loss and the readings of arXiv v1 against density."""
    figure, axes = context.subplots(1, 3, aspect=1.05)
    for ax, loss in zip(axes, ("train", "test"), strict=False):
        _scheme_lines(ax, context.table, x="density", y=f"{loss}_loss")
        ax.set_title(f"{loss} loss, ours")
    rows = context.reference[context.reference["x_name"] == "density"]
    _scheme_readings(axes[2], rows)
    axes[2].set_title("train loss, arXiv v1 as read")
    return _finished(figure, axes, label="loss at the chosen rate (nats)")


def transfer_panels(context: FigureContext) -> Figure:
    """Draw validation loss against density, and the readings of arXiv v1 beside it."""
    figure, axes = context.subplots(1, 2, aspect=0.85)
    _scheme_lines(axes[0], context.table, x="density", y="val_loss")
    axes[0].set_title("ours")
    rows = context.reference[context.reference["x_name"] == "density"]
    _scheme_readings(axes[1], rows)
    axes[1].set_title("arXiv v1 as read")
    return _finished(figure, axes, label="validation loss (nats)")


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
        ax.set_xticklabels([f"{fraction(d)}\n{width}" for d, width in widths.items()])
        ax.set_xlabel("density, width")
    scheme_legend(figure, SCHEMES)
    return figure


def _finished(figure: Figure, axes: Sequence[Axes], *, label: str) -> Figure:
    """Give panels of losses their density axes, one label and one legend."""
    for ax in axes:
        density_axis(ax)
    axes[0].set_ylabel(label)
    scheme_legend(figure, SCHEMES)
    return figure


def _scheme_lines(ax: Axes, table: pd.DataFrame, *, x: str, y: str) -> None:
    for scheme in SCHEMES:
        rows = table[table["scheme"] == scheme]
        plot_ours(ax, rows, x=x, y=y, label="", color=COLORS[scheme], marker=MARKS[scheme])


def _scheme_readings(ax: Axes, rows: pd.DataFrame) -> None:
    for scheme, curve in rows.groupby("series", sort=False):
        plot_paper(ax, curve, label="", color=COLORS[scheme], marker=MARKS[scheme])
