"""Figures of the coordinate check: Figure 5, by layer, and of a user's own model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from matplotlib import style
from matplotlib.figure import Figure

from harness.declare.statistics import InvalidQuantity, MissingRows, aggregate, t_interval
from harness.publish.figures import (
    MARKERS,
    PALETTE,
    FigureContext,
    plot_ours,
    plot_paper,
    sequential,
)
from harness.publish.style import RC
from reproductions.supar.coordinates.quantities import activation_slope
from reproductions.supar.coordinates.table import BLOCKS
from reproductions.supar.method.slopes import log_slope
from reproductions.supar.models.drawing import NAMES, density_axis
from reproductions.supar.models.points import SCHEMES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SIZES = {
    "mean_abs_activation": "mean |Y|",
    "delta_y_rms": "RMS of ΔY",
    "grad_x_rms": "RMS of ∇X L",
}
LEAST_SPAN = 8.0
PANEL_IN = (2.1, 1.7)
"""Width and height of a panel of a user's figure."""


def coordinate_panels(context: FigureContext) -> Figure:
    """Draw mean absolute activation against density: blocks by schemes, one line a step."""
    figure, axes = context.subplots(2, 3, aspect=0.95)
    steps = sorted(int(step) for step in context.table["step"].unique())
    colors = dict(zip(steps, sequential(len(steps)), strict=True))
    ends = (steps[0], steps[-1])
    panels = [(block, scheme) for block in BLOCKS for scheme in SCHEMES]
    for ax, (block, scheme) in zip(axes, panels, strict=True):
        table = context.table
        rows = table[(table["block"] == block) & (table["scheme"] == scheme)]
        for step in steps:
            _step_line(ax, rows[rows["step"] == step], color=colors[step], ends=step in ends)
        _official(ax, context.reference, f"{scheme} {block}", colors)
        ax.set_yscale("log")
        density_axis(ax)
        ax.set_title(
            f"{NAMES[scheme]}, {BLOCKS[block]}\n{_slope_text(rows, scheme, block)}", fontsize=6.5
        )
    for row in (axes[:3], axes[3:]):
        _share_heights(row)
        row[0].set_ylabel("mean |activation|")
    _step_legend(figure, colors, per_row=6 if context.width == "double" else 4)
    return figure


def _step_line(ax: Axes, rows: pd.DataFrame, *, color: str, ends: bool) -> None:
    """Draw one step: the first and the last with marks and bars, those between as thin lines."""
    if ends:
        plot_ours(ax, rows, x="density", y="mean_abs_activation", label="", color=color)
        return
    means = aggregate(rows, by=["density"], value="mean_abs_activation").sort_values("density")
    ax.plot(means["density"].to_numpy(), means["mean"].to_numpy(), color=color, linewidth=0.7)


def _official(ax: Axes, reference: pd.DataFrame, prefix: str, colors: dict[int, str]) -> None:
    """Add the plot shipped with the authors' code, at the steps that were read."""
    rows = reference[reference["x_name"] == "density"]
    for step, color in colors.items():
        plot_paper(ax, rows[rows["series"] == f"{prefix} {step}"], label="", color=color)


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


def _step_legend(figure: Figure, colors: dict[int, str], *, per_row: int) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=color, marker="o", label=f"t={step}") for step, color in colors.items()
    ]
    handles.append(
        Line2D(
            [], [], color="#333333", marker="o", linestyle="--", markerfacecolor="white",
            label="authors' code",
        )
    )  # fmt: skip
    figure.legend(handles=handles, loc="outside upper center", ncols=per_row)


def layer_panels(context: FigureContext, *, steps: Mapping[str, int]) -> Figure:
    """Draw sizes as rows and schemes as columns against density, one line a layer.

    steps: the sizes to draw, each with the step at which it is drawn.
    """
    figure, axes = context.subplots(len(steps), len(SCHEMES), aspect=0.95)
    panels = [(size, scheme) for size in steps for scheme in SCHEMES]
    for ax, (size, scheme) in zip(axes, panels, strict=True):
        table = context.table
        rows = table[(table["scheme"] == scheme) & (table["step"] == steps[size])]
        _lines(ax, rows, x="density", y=size)
        ax.set_title(f"{NAMES[scheme]}\n{_slope_range(rows, size)}", fontsize=6.5)
        ax.set_ylabel(f"{SIZES[size]}, t={steps[size]}")
    for first in range(0, len(panels), len(SCHEMES)):
        _share_heights(axes[first : first + len(SCHEMES)])
    _legend(figure, axes[0], per_row=4 if context.width == "double" else 2)
    return figure


def check_panels(table: pd.DataFrame, slopes: pd.DataFrame, *, step: int) -> Figure:
    """Draw sizes as rows, one line a layer, of a user's model at one step.

    Columns: against width at the largest density, against density at the largest width, as far
    as there are two. slopes: those of this step; titles state their range on the drawn line.
    """
    columns = [along for along in ("width", "density") if table[along].nunique() > 1]
    sizes = [size for size in SIZES if table.loc[table["step"] == step, size].notna().any()]
    with style.context(["default", RC]):
        width, height = PANEL_IN
        figure = Figure(
            figsize=(width * max(len(columns), 2), height * len(sizes) + 0.4), layout="constrained"
        )
        axes = figure.subplots(len(sizes), len(columns), squeeze=False)
        for row, size in zip(axes, sizes, strict=True):
            for ax, along in zip(row, columns, strict=True):
                other = "density" if along == "width" else "width"
                at = table[other].max()
                _lines(ax, table[(table["step"] == step) & (table[other] == at)], x=along, y=size)
                fitted = slopes[(slopes["size"] == size) & (slopes["along"] == along)]
                fitted = fitted.loc[fitted["at"] == at, "slope"]
                ax.set_title(f"{other} {at:g}\n{_range_text(fitted)}", fontsize=6.5)
                _widen(ax)
            row[0].set_ylabel(f"{SIZES[size]}, t={step}")
        _legend(figure, axes[0][0], per_row=2 * len(columns))
    return figure


def _lines(ax: Axes, rows: pd.DataFrame, *, x: str, y: str) -> None:
    for index, (layer, part) in enumerate(rows.groupby("layer", sort=False)):
        plot_ours(
            ax,
            part,
            x=x,
            y=y,
            label=str(layer),
            color=PALETTE[index % len(PALETTE)],
            marker=MARKERS[index % len(MARKERS)],
        )
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xlabel(x)


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
    return _range_text(slopes)


def _range_text(slopes: Iterable[float]) -> str:
    """Return two decimals, without the sign of a zero.

    >>> _range_text([0.5, -0.001])
    'slope 0.00 to 0.50'
    """
    numbers = [round(float(slope), 2) + 0.0 for slope in slopes]
    if not numbers or any(map(math.isnan, numbers)):
        return "no slope"
    return f"slope {min(numbers):.2f} to {max(numbers):.2f}"


def _widen(ax: Axes) -> None:
    """Show at least a factor of LEAST_SPAN, so that what is flat looks flat."""
    low, high = ax.get_ylim()
    if (missing := LEAST_SPAN * low / high) > 1.0:
        ax.set_ylim(low / math.sqrt(missing), high * math.sqrt(missing))


def _share_heights(axes: Sequence[Axes]) -> None:
    bounds = [ax.get_ylim() for ax in axes]
    for ax in axes:
        ax.set_ylim(min(low for low, _ in bounds), max(high for _, high in bounds))


def _legend(figure: Figure, ax: Axes, *, per_row: int) -> None:
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(per_row, len(labels)))
