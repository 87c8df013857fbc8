"""Figure of differences: error against their step."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.publish.figures import MARKERS, PALETTE, FigureContext, plot_ours

PAPERS_STEP = 1e-4
"""Table F.3."""
PRECISIONS = {"float64": "double", "float32": "single"}
NODES = {"rademacher": "one direction", "gauss-grid": "12 nodes"}


def step_panels(context: FigureContext) -> Figure:
    """Draw schemes by precision with several directions; and schemes on the released grid."""
    figure, axes = context.subplots(1, 2, aspect=0.95 if context.width == "double" else 1.6)
    table = context.table.assign(mu=10.0 ** context.table["log10_mu"])
    many, one = table[table["num_meta"] > 1], table[table["num_meta"] == 1]
    many = many[many["directions"] == "rademacher"]
    _panel(axes[0], many, "dtype", PRECISIONS, "relative_error", context.width)
    double = one[one["dtype"] == "float64"]
    _panel(axes[1], double, "directions", NODES, "gradient_error", context.width)
    axes[0].set_ylabel("error, same directions")
    axes[1].set_ylabel("error of the gradient")
    for ax in axes:
        ax.set(xscale="log", yscale="log", xlabel="step mu")
        ax.axvline(PAPERS_STEP, color=PALETTE[6], linestyle=":")
    return figure


def _panel(
    ax: Axes, rows: pd.DataFrame, column: str, names: dict[str, str], y: str, width: str
) -> None:
    places = [(s, n) for s in ("forward", "central") for n in names]
    for index, (scheme, name) in enumerate(places):
        own = rows[(rows["scheme"] == scheme) & (rows[column] == name)]
        plot_ours(
            ax, own, x="mu", y=y, label=f"{scheme}, {names[name]}", color=PALETTE[index],
            marker=MARKERS[index], style="-" if scheme == "forward" else "--",
        )  # fmt: skip
    for line in ax.get_lines():
        line.set_markersize(2.5)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2 if width == "double" else 1,
              columnspacing=0.8, handlelength=1.6)  # fmt: skip
