"""Figures of the coordinate check: blocks against density, and layer by layer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from harness.declare import InvalidQuantity, MissingRows
from harness.declare.statistics import aggregate, t_interval
from harness.publish.figures import (
    MARKERS,
    PALETTE,
    FigureContext,
    plot_ours,
    plot_paper,
    points,
    sequential,
)
from reproductions.supar.coordinates.quantities import activation_slope, log_slope
from reproductions.supar.coordinates.table import BLOCKS
from reproductions.supar.method.coordinate_figure import SIZE_LABELS
from reproductions.supar.method.slopes import Size
from reproductions.supar.models.drawing import density_axis
from reproductions.supar.models.schemes import LABELS, SCHEMES
from reproductions.supar.models.sweep_figures import INK

BETWEEN: dict[str, Any] = {"linewidth": 0.7}
"""The look of steps between the first and the last."""
FIRST, LAST, *_ = MARKERS


def coordinate_panels(context: FigureContext) -> Figure:
    """Draw mean absolute activation against density: blocks by schemes, one line per step."""
    figure, axes = context.subplots(2, 3, aspect=0.95)
    steps = sorted(int(step) for step in context.table["step"].unique())
    colors = dict(zip(steps, sequential(len(steps)), strict=True))
    marks = {steps[-1]: LAST, steps[0]: FIRST}
    panels = [(block, scheme) for block in BLOCKS for scheme in SCHEMES]
    for ax, (block, scheme) in zip(axes, panels, strict=True):
        table = context.table
        rows = table[(table["block"] == block) & (table["scheme"] == scheme)]
        for step in steps:
            _step_line(ax, rows[rows["step"] == step], color=colors[step], mark=marks.get(step))
        _official(ax, context.reference, f"{scheme} {block}", colors)
        ax.set_yscale("log")
        density_axis(ax)
        ax.set_title(
            f"{LABELS[scheme]}, {BLOCKS[block]}\n{_slope_text(rows, scheme, block)}",
            fontsize=points(6.5),
        )
    for row in (axes[:3], axes[3:]):
        _share_heights(row)
        row[0].set_ylabel("mean |activation|")
    _step_legend(figure, context, colors)
    return figure


def _step_line(ax: Axes, rows: pd.DataFrame, *, color: str, mark: str | None) -> None:
    """Draw one step: the first and the last with marks and bars, those between as thin lines."""
    if mark is not None:
        y = "mean_abs_activation"
        plot_ours(ax, rows, x="density", y=y, label="", color=color, marker=mark)
        return
    means = aggregate(rows, by=["density"], value="mean_abs_activation").sort_values("density")
    ax.plot(means["density"].to_numpy(), means["mean"].to_numpy(), color=color, **BETWEEN)


def _official(ax: Axes, reference: pd.DataFrame, prefix: str, colors: dict[int, str]) -> None:
    """Add the plot shipped with the authors' code, at the steps that were read."""
    rows = reference[reference["x_name"] == "density"]
    for step, color in colors.items():
        read = rows[rows["series"] == f"{prefix} {step}"]
        plot_paper(ax, read, label="", color=color, marker=LAST if step == max(colors) else FIRST)


def _slope_text(rows: pd.DataFrame, scheme: str, block: str) -> str:
    """Return the slope at t=0 with its interval, by the quantity that the claims use."""
    fit = partial(activation_slope, scheme=scheme, block=block, step=0)
    try:
        interval = t_interval([fit(part) for _, part in rows.groupby("seed", sort=True)])
    except (InvalidQuantity, MissingRows):
        return "no slope at t=0"
    if not math.isfinite(interval.low):
        return f"slope {_signed(interval.mean)}"
    numbers = [_signed(number) for number in (interval.mean, interval.low, interval.high)]
    return "slope {} [{}, {}]".format(*numbers)


def _signed(number: float) -> str:
    """Return two decimals, without the sign of a zero.

    >>> _signed(-0.004), _signed(-0.006)
    ('0.00', '-0.01')
    """
    return f"{round(number, 2) + 0.0:.2f}"


def _step_legend(figure: Figure, context: FigureContext, colors: dict[int, str]) -> None:
    """Name the first step, the last and those between, and the authors' plot where it is."""
    first, *between, last = colors
    name = f"t={between[0]} to {between[-1]}, dark to light"
    handles = [
        Line2D([], [], color=colors[first], marker=FIRST, label=f"t={first}"),
        Line2D([], [], color=colors[between[len(between) // 2]], label=name, **BETWEEN),
        Line2D([], [], color=colors[last], marker=LAST, label=f"t={last}"),
    ]
    if not context.reference.empty:
        official = Line2D(
            [], [], color=INK, marker="o", ls="--", mfc="white", label="authors' code"
        )
        handles.append(official)
    per_row = 6 if context.width == "double" else 4
    figure.legend(handles=handles, loc="outside upper center", ncols=per_row)


def layer_panels(context: FigureContext, *, steps: Mapping[Size, int]) -> Figure:
    """Draw sizes as rows and schemes as columns against density, one line per layer.

    steps: the sizes to draw, each with the step at which it is drawn.
    """
    figure, axes = context.subplots(len(steps), len(SCHEMES), aspect=0.95)
    panels = [(size, scheme) for size in steps for scheme in SCHEMES]
    for ax, (size, scheme) in zip(axes, panels, strict=True):
        table = context.table
        rows = table[(table["scheme"] == scheme) & (table["step"] == steps[size])]
        _lines(ax, rows, y=size)
        ax.set_title(f"{LABELS[scheme]}\n{_slope_range(rows, size)}", fontsize=points(6.5))
        ax.set_ylabel(f"{SIZE_LABELS[size]}, t={steps[size]}")
    for first in range(0, len(panels), len(SCHEMES)):
        _share_heights(axes[first : first + len(SCHEMES)])
    context.legend_above(figure, axes[:1], 4, narrow=2)
    return figure


def _lines(ax: Axes, rows: pd.DataFrame, *, y: str) -> None:
    """Draw one line per layer against density, on logarithmic axes."""
    for index, (layer, part) in enumerate(rows.groupby("layer", sort=False)):
        plot_ours(
            ax,
            part,
            x="density",
            y=y,
            label=str(layer).replace("blocks.", "block ").replace(".", ", ").replace("_", "-"),
            color=PALETTE[index % len(PALETTE)],
            marker=MARKERS[index % len(MARKERS)],
        )
    ax.set_yscale("log")
    density_axis(ax)


def _slope_range(rows: pd.DataFrame, size: str) -> str:
    """State the least and the largest slope over layers, each a mean over seeds."""
    slopes = []
    for _, layer in rows.groupby("layer", sort=True):
        seeds = layer.groupby("seed", sort=True)
        try:
            fits = [log_slope(dict(zip(p["density"], p[size], strict=True))) for _, p in seeds]
        except InvalidQuantity:
            return "no slope"
        slopes.append(t_interval(fits).mean)
    return f"slope {_signed(min(slopes))} to {_signed(max(slopes))}"


def _share_heights(axes: Sequence[Axes]) -> None:
    bounds = [ax.get_ylim() for ax in axes]
    for ax in axes:
        ax.set_ylim(min(low for low, _ in bounds), max(high for _, high in bounds))
