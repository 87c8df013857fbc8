"""What several studies draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.publish.figures import HATCHES, MARKERS, PALETTE, FigureContext, plot_ours

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


NUM_COLORS = 7
"""Lines beyond so many are dashed, in the same colours again."""
HELD_PARTS = {
    "weights_bytes": "weights",
    "saved_bytes": "activations",
    "gradients_bytes": "gradients",
    "moments_bytes": "moments",
}
"""What holds the memory of a step, in the order of bars."""


def end_points(
    context: FigureContext, runs: Mapping[str, pd.DataFrame], *, value: str, label: str
) -> Figure:
    """Draw the value of every run as a dot, and the mean of those of one name as a bar."""
    figure, (ax,) = context.subplots(aspect=0.5)
    for place, rows in enumerate(runs.values()):
        numbers = rows[value].dropna().astype(float)
        color = PALETTE[place % len(PALETTE)]
        ax.plot([place - 0.25, place + 0.25], [numbers.mean()] * 2, color=color, lw=2.0)
        ax.plot([place] * len(numbers), numbers, ls="", marker="o", color=color, ms=4)
    ax.set_xticks(range(len(runs)), list(runs))
    ax.set_ylabel(label)
    return figure


def rate_lines(
    context: FigureContext,
    runs: Mapping[str, pd.DataFrame],
    *,
    value: str,
    split: str,
    columns: int,
) -> Figure:
    """Draw a split's loss against the learning rate, one line for the runs of one name."""
    figure, (ax,) = context.subplots(aspect=0.6)
    for number, (label, rows) in enumerate(runs.items()):
        if len(rows):
            plot_ours(
                ax, rows, x="lr", y=value, label=label, color=PALETTE[number % NUM_COLORS],
                marker=MARKERS[number % len(MARKERS)], style="-" if number < NUM_COLORS else "--",
            )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xlabel("learning rate")
    ax.set_ylabel(f"{split} loss (nats per token)")
    legend_above(figure, [ax], columns=columns)
    return figure


def stacked_parts(ax: Axes, rows: pd.DataFrame, names: Sequence[str], *, size: float) -> None:
    """Draw what holds the memory of each step as a stacked bar; size: bytes of a unit."""
    left = [0.0] * len(rows)
    for color, hatch, (column, label) in zip(PALETTE, HATCHES, HELD_PARTS.items(), strict=False):
        look = {"color": color, "hatch": hatch, "label": label, "height": 0.6}
        widths = (rows[column] / size).to_list()
        ax.barh(range(len(rows)), widths, left=left, **look)
        left = [start + width for start, width in zip(left, widths, strict=True)]
    ax.set_yticks(range(len(rows)), names)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)


def legend_above(figure: Figure, axes: Sequence[Axes], *, columns: int) -> None:
    """Draw one legend for all panels, each label once."""
    found: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    figure.legend([*found.values()], [*found], loc="outside upper center", ncols=columns)
