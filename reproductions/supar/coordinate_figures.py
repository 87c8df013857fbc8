"""Figures of the coordinate check by layer: this paper's nets, and a user's own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from matplotlib import style
from matplotlib.figure import Figure

from harness.figures import MARKERS, PALETTE, FigureContext, plot_ours
from harness.house_style import RC
from harness.statistics import InvalidQuantity, t_interval
from reproductions.supar.slopes import log_slope

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SCHEMES = {"sp": "SP", "mup": "μP", "supar": "SμPar"}
SIZES = {
    "mean_abs_activation": "mean |Y|",
    "delta_y_rms": "RMS of ΔY",
    "grad_x_rms": "RMS of ∇X L",
}
LEAST_SPAN = 8.0
PANEL_IN = (2.1, 1.7)
"""Width and height of a panel of a user's figure."""


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
        ax.set_title(f"{SCHEMES[scheme]}\n{_slope_range(rows, size)}", fontsize=6.5)
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
