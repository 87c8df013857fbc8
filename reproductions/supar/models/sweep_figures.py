"""Figures of sweeps: loss against a learning rate or a standard deviation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator

from harness.declare.statistics import aggregate
from harness.publish.figures import FigureContext, plot_ours, plot_paper, sequential
from reproductions.supar.models.drawing import fraction
from reproductions.supar.models.schemes import LABELS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AXES = {"log2_lr": "peak base learning rate", "log2_sigma": "base standard deviation"}
CURVE_SPAN = 0.22
"""Height of a sweep panel in nats over its least loss, relative: what is far above is cut."""


def sweep_panels(context: FigureContext, *, schemes: Sequence[str]) -> Figure:
    """Draw train loss against learning rate: ours above, readings of arXiv v1 below.

    One panel per scheme. A scheme without readings has an empty lower panel that says so.
    """
    figure, axes = context.subplots(2, len(schemes), aspect=0.95)
    densities = sorted(
        {*context.table["density"].unique(), *_read_densities(context.reference)}, reverse=True
    )
    colors = dict(zip(densities, sequential(len(densities)), strict=True))
    for ax, scheme in zip(axes, schemes, strict=False):
        _our_sweep(ax, context.table[context.table["scheme"] == scheme], colors)
        ax.set_title(f"{LABELS[scheme]}, ours")
    for ax, scheme in zip(axes[len(schemes) :], schemes, strict=True):
        _read_sweep(ax, context.reference, scheme, colors)
        ax.set_title(f"{LABELS[scheme]}, arXiv v1 as read")
    for row in (axes[: len(schemes)], axes[len(schemes) :]):
        _share_heights(row)
        row[0].set_ylabel("train loss (nats)")
    _density_legend(figure, colors, per_row=7 if context.width == "double" else 4)
    return figure


def our_sweep_panels(context: FigureContext, *, schemes: Sequence[str], x: str) -> Figure:
    """Draw our train loss against what is swept, one panel per scheme."""
    figure, axes = context.subplots(1, len(schemes), aspect=0.95)
    colors = _colors(context.table)
    for ax, scheme in zip(axes, schemes, strict=True):
        _our_sweep(ax, context.table[context.table["scheme"] == scheme], colors, x=x)
        ax.set_title(LABELS[scheme])
    _share_heights(axes)
    axes[0].set_ylabel("train loss (nats)")
    _density_legend(figure, colors, per_row=7)
    return figure


def dynamic_panels(
    context: FigureContext, *, methods: dict[str, str], schemes: Sequence[str]
) -> Figure:
    """Draw our train loss against learning rate, methods as rows and schemes as columns."""
    figure, axes = context.subplots(len(methods), len(schemes), aspect=0.95)
    colors = _colors(context.table)
    panels = [(method, scheme) for method in methods for scheme in schemes]
    for ax, (method, scheme) in zip(axes, panels, strict=True):
        table = context.table
        _our_sweep(ax, table[(table["method"] == method) & (table["scheme"] == scheme)], colors)
        ax.set_title(f"{methods[method]}, {LABELS[scheme]}")
    _share_heights(axes)
    for ax in axes[:: len(schemes)]:
        ax.set_ylabel("train loss (nats)")
    _density_legend(figure, colors, per_row=7)
    return figure


def two_ladder_panels(context: FigureContext) -> Figure:
    """Draw SP's train loss against learning rate: equal weights per neuron, and equal width."""
    titles = {"iso_neuron": "equal weights per neuron", "fixed_width": "equal width"}
    figure, axes = context.subplots(1, len(titles), aspect=0.8)
    colors = _colors(context.table)
    for ax, (ladder, title) in zip(axes, titles.items(), strict=True):
        _our_sweep(ax, context.table[context.table["ladder"] == ladder], colors)
        ax.set_title(f"SP, {title}")
        _share_heights([ax])
    axes[0].set_ylabel("train loss (nats)")
    _density_legend(figure, colors, per_row=7)
    return figure


def _colors(table: pd.DataFrame) -> dict[float, str]:
    densities = sorted(table["density"].unique(), reverse=True)
    return dict(zip(densities, sequential(len(densities)), strict=True))


def _our_sweep(
    ax: Axes, rows: pd.DataFrame, colors: dict[float, str], *, x: str = "log2_lr"
) -> None:
    power_axis(ax, AXES[x])
    for density in sorted(rows["density"].unique(), reverse=True):
        curve = rows[rows["density"] == density]
        plot_ours(ax, curve, x=x, y="train_loss", label="", color=colors[density])
        means = aggregate(curve, by=[x], value="train_loss").dropna(subset=["mean"])
        # A rate at which a seed diverged has a mean over fewer seeds: it is no optimum.
        whole = means[means["num_seeds"] == means["num_seeds"].max()]
        if whole.empty:
            continue
        best = whole.sort_values("mean").iloc[0]
        # On the window's edge the least loss is the window's, not an optimum.
        if best[x] not in (means[x].min(), means[x].max()):
            ring(ax, best[x], best["mean"], colors[density], dense=density == 1.0)


def _read_sweep(ax: Axes, reference: pd.DataFrame, scheme: str, colors: dict[float, str]) -> None:
    power_axis(ax, AXES["log2_lr"])
    curves = reference[reference["x_name"] == "log2_lr"]
    curves = curves[curves["series"].str.startswith(f"{scheme} ")]
    if curves.empty:
        ax.text(0.5, 0.5, "no readings known", ha="center", va="center", transform=ax.transAxes)
        ax.set(xticks=[], yticks=[], xlabel="")
    for series, curve in curves.groupby("series", sort=False):
        density = float(str(series).split()[1])
        for _, piece in curve.groupby(_gaps(curve["x"])):
            plot_paper(ax, piece, label="", color=colors[density])
        best = curve.sort_values("value").iloc[0]
        ring(ax, best["x"], best["value"], colors[density], dense=density == 1.0)


def _gaps(x: pd.Series[float]) -> pd.Series[int]:
    """Number the pieces of a curve between which a factor-2 step was not read."""
    return (x.sort_values().diff() > 1.5).cumsum()


def ring(ax: Axes, x: float, y: float, color: str, *, dense: bool) -> None:
    """Ring an optimum; that of the dense model also gets a vertical line."""
    ax.plot([x], [y], marker="o", markersize=7.5, fillstyle="none", color=color, linestyle="")
    if dense:
        ax.axvline(x, color="#333333", linewidth=0.8, linestyle=":")


def _read_densities(reference: pd.DataFrame) -> set[float]:
    series = reference.loc[reference["x_name"] == "log2_lr", "series"]
    return {float(name.split()[1]) for name in series}


def power_axis(ax: Axes, label: str) -> None:
    """Make the horizontal axis one of powers of two."""
    ax.set_xlabel(label)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"$2^{{{x:.0f}}}$"))


def _share_heights(axes: Sequence[Axes]) -> None:
    """Give panels one range of losses, from their least upward; steep ends are cut."""
    curves = [np.asarray(line.get_ydata(), dtype=float) for ax in axes for line in ax.get_lines()]
    # A vertical line has two points, in other units.
    losses = [loss for curve in curves if len(curve) > 2 for loss in curve if math.isfinite(loss)]
    if not losses:
        return
    low, high = min(losses), max(losses)
    top = min(high, low * (1 + CURVE_SPAN))
    for ax in axes:
        ax.set_ylim(low - 0.04 * (top - low), top + 0.04 * (top - low))


def _density_legend(figure: Figure, colors: dict[float, str], *, per_row: int) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=color, marker="o", label=fraction(density))
        for density, color in colors.items()
    ]
    figure.legend(
        handles=handles,
        title="density",
        loc="outside upper center",
        ncols=min(per_row, len(handles)),
    )
