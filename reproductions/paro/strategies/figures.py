"""Figure of the strategies: memory against communication, with one ring and with PaRO-CC."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.declare import pick
from harness.publish.figures import MARKERS, PALETTE, FigureContext, points
from reproductions.paro.method.guideline import nine_digits, unbeaten

TITLES = {"flat": "one ring of all GPUs", "hier": "PaRO-CC in two steps"}
COLORS = {"N": PALETTE[0], "I": PALETTE[1], "G": PALETTE[2]}
MARKS = dict(zip(COLORS, MARKERS, strict=False))
"""By the granularity of optimizer states."""


def planes(context: FigureContext) -> Figure:
    """Draw every strategy in the plane of time and memory, and the front."""
    wide = context.width == "double"
    figure, axes = context.subplots(1 if wide else 2, 2 if wide else 1, aspect=0.95, sharey=wide)
    rows = pick(context.table, part="costs", model="LLaMA-7B", trainable_share=1.0)
    for ax, (world, title) in zip(axes, TITLES.items(), strict=True):
        _plane(ax, pick(rows, world=world))
        _scale(ax, rows)
        ax.set_title(title)
    _legend(figure, num_columns=5 if wide else 3)
    return figure


def front(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the points that no other beats, from the fastest on."""
    points = rows[["comm_s", "memory_bytes"]].map(nine_digits)
    kept = unbeaten(list(points.itertuples(index=False, name=None)))
    return rows[kept].sort_values("comm_s")


def _plane(ax: Axes, rows: pd.DataFrame) -> None:
    best = front(rows)
    ax.plot(best["comm_s"], best["memory_bytes"] / 1e9, color="0.6", linewidth=0.8, zorder=1)
    for _, row in rows.iterrows():
        color = COLORS[row["os"]]
        ax.plot(
            [row["comm_s"]], [row["memory_bytes"] / 1e9], marker=MARKS[row["os"]],
            markersize=4, color=color, markerfacecolor=color if row["effective"] else "white",
        )  # fmt: skip
    for _, row in best.iterrows():
        ax.annotate(
            row["strategy"], (row["comm_s"], row["memory_bytes"] / 1e9), xytext=(-3, -3),
            textcoords="offset points", fontsize=points(6.5), ha="right", va="top",
        )  # fmt: skip
    ax.set(xlabel="communication per step (s)", ylabel="held by a GPU (GB)")


def _scale(ax: Axes, rows: pd.DataFrame) -> None:
    """Scale both axes by logarithms, the same in every panel, with numbers written out."""
    from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

    times, sizes = rows["comm_s"], rows["memory_bytes"] / 1e9
    ax.set(xscale="log", yscale="log")
    # Room for the letters below and to the left.
    ax.set(
        xlim=(0.45 * times.min(), 1.4 * times.max()), ylim=(0.6 * sizes.min(), 1.4 * sizes.max())
    )
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(FixedLocator([k * 10.0**e for e in range(-4, 6) for k in (1, 3)]))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))


def _legend(figure: Figure, *, num_columns: int) -> None:
    from matplotlib.lines import Line2D

    def dot(color: str, fill: str, label: str, mark: str = "o") -> Line2D:
        return Line2D([], [], color=color, marker=mark, markersize=4, ls="none",
                      markerfacecolor=fill, label=label)  # fmt: skip

    handles = [
        dot(color, color, f"states {letter}", MARKS[letter]) for letter, color in COLORS.items()
    ]
    handles += [dot("0.4", "0.4", "kept", "D"), dot("0.4", "white", "left out", "D")]
    figure.legend(handles=handles, loc="outside upper center", ncols=num_columns)
