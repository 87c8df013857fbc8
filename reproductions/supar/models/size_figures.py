"""The figure of a coordinate check: the size of each layer against width and density."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from matplotlib import style
from matplotlib.figure import Figure

from harness.publish.figures import MARKERS, PALETTE, plot_ours
from harness.publish.style import RC, points

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
"""Width and height of a panel."""


def check_panels(table: pd.DataFrame, slopes: pd.DataFrame, *, step: int) -> Figure:
    """Draw sizes as rows, one line per layer, of a user's model at one step.

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
                lines(ax, table[(table["step"] == step) & (table[other] == at)], x=along, y=size)
                fitted = slopes[(slopes["size"] == size) & (slopes["along"] == along)]
                fitted = fitted.loc[fitted["at"] == at, "slope"]
                ax.set_title(f"{other} {at:g}\n{range_text(fitted)}", fontsize=points(6.5))
                _widen(ax)
            row[0].set_ylabel(f"{SIZES[size]}, t={step}")
        legend(figure, axes[0][0], per_row=2 * len(columns))
    return figure


def lines(ax: Axes, rows: pd.DataFrame, *, x: str, y: str) -> None:
    """Draw one line per layer on logarithmic axes."""
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


def range_text(slopes: Iterable[float]) -> str:
    """Return two decimals, without the sign of a zero.

    >>> range_text([0.5, -0.001])
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


def legend(figure: Figure, ax: Axes, *, per_row: int) -> None:
    """Name the lines of a panel above all of them."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(per_row, len(labels)))
