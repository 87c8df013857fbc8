"""Figures of sweeps: loss against a learning rate or a standard deviation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from harness.declare.statistics import aggregate
from harness.publish.figures import MARKERS, FigureContext, plot_ours, plot_paper, sequential
from reproductions.supar.models.drawing import fraction
from reproductions.supar.models.schemes import LABELS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AXES = {"log2_lr": "peak base learning rate", "log2_sigma": "base standard deviation"}
INK = "#333333"
RING: dict[str, Any] = {
    "marker": "o", "markersize": 7.5, "fillstyle": "none", "linestyle": ""
}  # fmt: skip
DENSE: dict[str, Any] = {"color": INK, "linewidth": 0.8, "linestyle": ":"}
CUT: dict[str, Any] = {"marker": "$\\uparrow$", "markersize": 5.0, "linestyle": ""}
Looks = dict[float, dict[str, Any]]
"""By density, a colour and a mark."""
CURVE_SPAN = 0.22
"""Height of a sweep panel in nats over its least loss, relative: what is far above is cut."""


def sweep_panels(context: FigureContext, *, schemes: Sequence[str], x: str = "log2_lr") -> Figure:
    """Draw train loss against what is swept: ours above, readings of arXiv v1 below.

    One panel per scheme, and below it one of its readings where there are any.
    """
    curves = context.reference[context.reference["x_name"] == x]
    names = curves["series"].str.split().str[0]
    read = [scheme for scheme in schemes if (names == scheme).any()]
    figure, axes = context.subplots(
        2 if read else 1,
        len(schemes),
        aspect=0.95,
        skip=[len(schemes) + at for at, each in enumerate(schemes) if read and each not in read],
    )
    densities = {*context.table["density"], *curves["series"].str.split().str[1].astype(float)}
    looks = _looks(densities)
    ours, theirs = axes[: len(schemes)], axes[len(schemes) :]
    for ax, scheme in zip(ours, schemes, strict=True):
        _our_sweep(ax, context.table[context.table["scheme"] == scheme], looks, x=x)
        ax.set_title(f"{LABELS[scheme]}, ours" if read else LABELS[scheme])
    for ax, scheme in zip(theirs, read, strict=True):
        _read_sweep(ax, curves[names == scheme], looks)
        ax.set_title(f"{LABELS[scheme]}, arXiv v1 as read")
    for row in filter(None, (ours, theirs)):
        _share_heights(row)
        row[0].set_ylabel("train loss (nats)")
    _finish(figure, axes, looks)
    return figure


def dynamic_panels(
    context: FigureContext, *, methods: dict[str, str], schemes: Sequence[str]
) -> Figure:
    """Draw our train loss against learning rate, methods as rows and schemes as columns."""
    table = context.table
    panels = {
        f"{title}, {LABELS[scheme]}": (table["method"] == method) & (table["scheme"] == scheme)
        for method, title in methods.items()
        for scheme in schemes
    }
    return _our_panels(context, (len(methods), len(schemes)), panels, aspect=0.95)


def two_ladder_panels(context: FigureContext) -> Figure:
    """Draw SP's train loss against learning rate: equal weights per neuron, and equal width."""
    titles = {"iso_neuron": "equal weights per neuron", "fixed_width": "equal width"}
    ladders = context.table["ladder"]
    panels = {f"SP, {title}": ladders == ladder for ladder, title in titles.items()}
    return _our_panels(context, (1, len(titles)), panels, aspect=0.8)


def _our_panels(
    context: FigureContext, shape: tuple[int, int], panels: Mapping[str, Any], *, aspect: float
) -> Figure:
    """Draw a panel of our curves per title and choice of rows, at one height."""
    figure, axes = context.subplots(*shape, aspect=aspect)
    looks = _looks(context.table["density"])
    for ax, (title, chosen) in zip(axes, panels.items(), strict=True):
        _our_sweep(ax, context.table[chosen], looks)
        ax.set_title(title)
    _share_heights(axes)
    for ax in axes[:: shape[1]]:
        ax.set_ylabel("train loss (nats)")
    _finish(figure, axes, looks)
    return figure


def _looks(densities: Iterable[float]) -> Looks:
    """Return a colour and a mark for each density, the dense model first."""
    found = sorted({*densities}, reverse=True)
    looks = zip(sequential(len(found)), itertools.cycle(MARKERS), strict=False)
    return {
        density: {"color": color, "marker": marker}
        for density, (color, marker) in zip(found, looks, strict=False)
    }


def _our_sweep(ax: Axes, rows: pd.DataFrame, looks: Looks, *, x: str = "log2_lr") -> None:
    power_axis(ax, AXES[x])
    for density in sorted(rows["density"].unique(), reverse=True):
        curve = rows[rows["density"] == density]
        plot_ours(ax, curve, x=x, y="train_loss", label="", **looks[density])
        means = aggregate(curve, by=[x], value="train_loss").dropna(subset=["mean"])
        # A rate at which a seed diverged has a mean over fewer seeds: it is no optimum.
        whole = means[means["num_seeds"] == means["num_seeds"].max()]
        if whole.empty:
            continue
        best = whole.sort_values("mean").iloc[0]
        # On the window's edge the least loss is the window's, not an optimum.
        if best[x] not in (means[x].min(), means[x].max()):
            ring(ax, best[x], best["mean"], looks[density]["color"], dense=density == 1.0)


def _read_sweep(ax: Axes, curves: pd.DataFrame, looks: Looks) -> None:
    power_axis(ax, AXES["log2_lr"])
    for series, curve in curves.groupby("series", sort=False):
        density = float(str(series).split()[1])
        # Pieces between which a factor-2 step was not read.
        for _, piece in curve.groupby((curve["x"].sort_values().diff() > 1.5).cumsum()):
            plot_paper(ax, piece, label="", **looks[density])
        best = curve.sort_values("value").iloc[0]
        ring(ax, best["x"], best["value"], looks[density]["color"], dense=density == 1.0)


def ring(ax: Axes, x: float, y: float, color: str, *, dense: bool) -> None:
    """Ring an optimum; that of the dense model also gets a vertical line."""
    ax.plot([x], [y], color=color, **RING)
    if dense:
        ax.axvline(x, **DENSE)


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
        ax.yaxis.set_major_locator(MaxNLocator(nbins=5, min_n_ticks=4))
        if top < high:
            _mark_cuts(ax)


def _mark_cuts(ax: Axes) -> None:
    """Put an arrow where a curve leaves its panel."""
    _, top = ax.get_ylim()
    for line in list(ax.get_lines()):
        x, y = (np.asarray(values, dtype=float) for values in line.get_data())
        if line.get_linestyle() == "None" or len(x) < 3:
            continue
        for at in np.flatnonzero((y[1:] > top) != (y[:-1] > top)):
            share = (top - y[at]) / (y[at + 1] - y[at])
            place = x[at] + share * (x[at + 1] - x[at])
            ax.plot([place], [top], color=line.get_color(), clip_on=False, **CUT)


def _finish(figure: Figure, axes: Sequence[Axes], looks: Looks) -> None:
    """Give all panels one horizontal range, so that a shift is seen, and name the marks."""
    bounds = [ax.get_xlim() for ax in axes]
    for ax in axes:
        ax.set_xlim(min(low for low, _ in bounds), max(high for _, high in bounds))
    drawn = {line.get_marker() for ax in axes for line in ax.get_lines()}
    handles = [
        Line2D([], [], **look, label=f"density {fraction(density)}")
        for density, look in looks.items()
    ]
    handles += [
        Line2D([], [], **RING, color=INK, label="least loss"),
        Line2D([], [], **DENSE, label="least of density 1"),
        Line2D([], [], color=INK, marker="|", markersize=7, linestyle="", label="standard error"),
    ]
    if CUT["marker"] in drawn:
        handles.append(Line2D([], [], color=INK, **CUT, label="goes on above"))
    figure.legend(handles=handles, loc="outside upper center", ncols=min(4, len(looks)))
