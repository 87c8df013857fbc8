"""The figure of a coordinate check: each layer's sizes beside the law that they should follow."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from matplotlib import style as styles
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullLocator
from numpy.typing import NDArray

from harness.publish.style import PALETTE, RC
from reproductions.supar.method.slopes import AXES, SIZES, Along, Grid, Phase, Size, Sizes, Slope

SIZE_LABELS: dict[Size, str] = {
    "mean_abs_activation": "mean |Y|",
    "delta_y_rms": "RMS of \u0394Y",
    "grad_x_rms": "RMS of \u2207X L",
}
VERDICTS: dict[str, dict[str, Any]] = {
    "pass": {"color": "#777777", "linewidth": 0.7, "zorder": 2},
    "undecided": {"color": PALETTE[0], "linewidth": 1.0, "marker": "o", "zorder": 3},
    "fail": {"color": PALETTE[1], "linewidth": 1.2, "marker": "X", "zorder": 4},
}
PHASES: dict[Phase, tuple[Literal["--", "-"], str]] = {
    "start": ("--", "before training"),
    "trained": ("-", "after updates"),
}
"""Style of a line, and what it is."""
BAND = "#dddddd"
LEAST_SPAN = 4.0
"""The factor that a panel shows at least, so that what is flat looks flat."""


def draw(grid: Grid, sizes: Sizes, slopes: tuple[Slope, ...]) -> Figure:
    """Draw sizes over those expected, against width and density: level lines keep their law.

    A row per size, a column per direction, a line per layer and phase: the geometric mean over
    seeds, updates and the places of the other direction. A line whose slope the tolerance allows
    stays within the grey band.
    """
    with styles.context(["default", RC]):
        columns = grid.directions
        figure = Figure(figsize=(0.9 + 2.3 * len(columns), 5.2), layout="constrained")
        axes = figure.subplots(len(SIZES), len(columns), squeeze=False, sharex="col", sharey=True)
        for line, size in zip(axes, SIZES, strict=True):
            for ax, along in zip(line, columns, strict=True):
                rows = [row for row in slopes if (row.size, row.along) == (size, along)]
                _panel(ax, grid, sizes[size], rows, along)
            line[0].set_ylabel(f"{SIZE_LABELS[size]} over its law")
        for ax, along in zip(axes[-1], columns, strict=True):
            ax.set_xlabel(along)
        low, high = axes[0][0].get_ylim()  # of all panels
        axes[0][0].set_ylim(min(low, LEAST_SPAN**-0.5), max(high, LEAST_SPAN**0.5))
        _legend(figure, per_row=1 + len(columns))
    return figure


def _panel(
    ax: Axes, grid: Grid, sizes: NDArray[np.float64], rows: list[Slope], along: Along
) -> None:
    """Draw one size against one direction, and say how many of its slopes fail."""
    places = np.array(grid.places(along), dtype=float)
    x = np.log2(places) - np.log2(places).mean()
    ends = np.linspace(x[0], x[-1], 33)
    tolerance = rows[0].tolerance * np.abs(ends)
    where = 2.0 ** (ends + np.log2(places).mean())
    ax.fill_between(where, 2.0**-tolerance, 2.0**tolerance, color=BAND, linewidth=0, zorder=1)
    for row in rows:
        steps = slice(1) if row.phase == "start" else slice(1, None)
        part = sizes[grid.layers.index(row.layer), ..., steps]
        with np.errstate(divide="ignore", invalid="ignore"):
            other = tuple(i for i in range(part.ndim) if i != AXES.index(along))
            off = np.log2(part).mean(axis=other) - row.expected * x
            off -= off.mean()
        ax.plot(places, 2.0**off, linestyle=PHASES[row.phase][0], **VERDICTS[row.verdict])
    num_failed = sum(row.verdict == "fail" for row in rows)
    ax.set_title(f"{num_failed} of {len(rows)} slopes fail")
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    ax.set_xticks(places, [f"{place:g}" for place in places])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))


def _legend(figure: Figure, *, per_row: int) -> None:
    """Say above all panels what lines and the band are."""
    handles = [Line2D([], [], label=f"slope: {name}", **look) for name, look in VERDICTS.items()]
    for style, label in PHASES.values():
        handles.append(Line2D([], [], color="black", linestyle=style, label=label))
    band = Patch(color=BAND, label="allowed slopes")
    figure.legend(handles=[*handles, band], loc="outside upper center", ncols=per_row)
