"""Figures of losses against density or along a ladder of nets; names and colours of schemes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from matplotlib.ticker import FuncFormatter

from harness.figures import MARKERS, PALETTE, FigureContext, plot_ours, plot_paper

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMES = {
    "sp": "SP",
    "mup": "μP",
    "supar": "SμPar",
    "mup_init_only": "μP + init of SμPar",
    "mup_lr_only": "μP + rate of SμPar",
}
SCHEMES = ("sp", "mup", "supar")
COLORS = dict(zip(NAMES, PALETTE, strict=False))
MARKS = dict(zip(NAMES, MARKERS, strict=False))


def best_loss_panels(context: FigureContext) -> Figure:
    """Draw train loss, test loss and the readings of arXiv v1 against density."""
    figure, axes = context.subplots(1, 3, aspect=1.05)
    for ax, loss in zip(axes, ("train", "test"), strict=False):
        _scheme_lines(ax, context.table, x="density", y=f"{loss}_loss")
        ax.set_title(f"{loss} loss, ours")
    rows = context.reference[context.reference["x_name"] == "density"]
    for scheme, curve in rows.groupby("series", sort=False):
        plot_paper(axes[2], curve, label="", color=COLORS[scheme], marker=MARKS[scheme])
    axes[2].set_title("train loss, arXiv v1 as read")
    for ax in axes:
        density_axis(ax)
    axes[0].set_ylabel("loss at the chosen rate (nats)")
    scheme_legend(figure, SCHEMES)
    return figure


def transfer_panels(context: FigureContext) -> Figure:
    """Draw validation loss against density, and the readings of arXiv v1 beside it."""
    figure, axes = context.subplots(1, 2, aspect=0.85)
    _scheme_lines(axes[0], context.table, x="density", y="val_loss")
    axes[0].set_title("ours")
    rows = context.reference[context.reference["x_name"] == "density"]
    for scheme, curve in rows.groupby("series", sort=False):
        plot_paper(axes[1], curve, label="", color=COLORS[scheme], marker=MARKS[scheme])
    axes[1].set_title("arXiv v1 as read")
    for ax in axes:
        density_axis(ax)
    axes[0].set_ylabel("validation loss (nats)")
    scheme_legend(figure, SCHEMES)
    return figure


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


def _scheme_lines(ax: Axes, table: pd.DataFrame, *, x: str, y: str) -> None:
    for scheme in SCHEMES:
        rows = table[table["scheme"] == scheme]
        plot_ours(ax, rows, x=x, y=y, label="", color=COLORS[scheme], marker=MARKS[scheme])


def scheme_legend(figure: Figure, schemes: Iterable[str]) -> None:
    """Name the schemes above all panels."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=COLORS[scheme], marker=MARKS[scheme], label=NAMES[scheme])
        for scheme in schemes
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))


def density_axis(ax: Axes) -> None:
    ax.set_xscale("log", base=2)
    ax.set_xlabel("density")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: fraction(x)))


def fraction(density: float) -> str:
    """Return 1/16 for 0.0625; densities of the grids are inverse powers of two."""
    inverse = 1.0 / density
    return "1" if inverse == 1.0 else f"1/{inverse:g}"
