"""Figure of the exact statements: Theorem 3.4 and eq. 22, each beside its bound."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.declare import pick
from harness.publish.figures import MARKERS, PALETTE, FigureContext, plot_ours, points

BOUND = PALETTE[6]


def bound_panels(context: FigureContext) -> Figure:
    """Draw Theorem 3.4's left side over its bound against K, and TRGU's bias against s."""
    wide = context.width == "double"
    figure, axes = context.subplots(1 if wide else 2, 2 if wide else 1, aspect=0.95)
    _descent(axes[0], pick(context.table, check="descent"))
    _truncation(axes[1], pick(context.table, check="truncation"))
    return figure


def _descent(ax: Axes, rows: pd.DataFrame) -> None:
    for (setting, own), color, marker in zip(
        rows.groupby("setting", sort=False), PALETTE, MARKERS, strict=False
    ):
        plot_ours(ax, own, x="x", y="ratio", label=str(setting), color=color, marker=marker)
    ax.axhline(1.0, color=BOUND, linestyle=":")
    ax.text(1.0, 0.975, "the bound", color=BOUND, va="top", fontsize=points(6.5))
    ax.set_xscale("log")
    ax.set_ylim(0.0, 1.08)
    ax.set(xlabel="outer steps K", ylabel="left side over the bound", title="Theorem 3.4")
    _legend_below(ax)


def _truncation(ax: Axes, rows: pd.DataFrame) -> None:
    rows = rows.assign(bound=rows["difference"] / rows["ratio"])
    for (setting, own), color, marker in zip(
        rows.groupby("setting", sort=False), PALETTE, MARKERS, strict=False
    ):
        plot_ours(
            ax, own, x="x", y="difference", label=f"bias, {setting}", color=color, marker=marker
        )
        ordered = own.sort_values("x")
        # A mark each, as dotted lines of two colours are one in print of grey.
        look = {"color": color, "linestyle": ":", "marker": marker, "fillstyle": "none"}
        ax.plot(ordered["x"], ordered["bound"], label=f"bound, {setting}", **look)
    ax.set_yscale("log")
    ax.set(xlabel="steps kept s", ylabel="bias over the gradient's norm", title="TRGU, eq. 22")
    _legend_below(ax)


def _legend_below(ax: Axes) -> None:
    # Curves leave no room for it inside.
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.23), ncols=2)
