"""Figures of facts: what models hold, and how large data sets are."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.declare.reference import standings
from harness.publish.figures import HATCHES, PALETTE, FigureContext
from reproductions.lisa.models.names import NAMES


def model_bars(context: FigureContext) -> Figure:
    """Draw the shares of what LISA always trains, and of one block."""
    table = context.table
    figure, (ax,) = context.subplots(aspect=0.45)
    total = table["num_params"].astype("float64")
    outside = table["outside_params"] / total
    block = table["block_params"] / total
    places = range(len(table))
    ax.barh(places, outside, color=PALETTE[0], height=0.6, label="always trained by LISA")
    ax.barh(
        places, block, left=outside, color=PALETTE[1], hatch=HATCHES[1], height=0.6,
        label="one block",
    )  # fmt: skip
    for place, right, size in zip(places, outside + block, total, strict=True):
        ax.annotate(
            _short(size), (right, place), textcoords="offset points", xytext=(4, 0), va="center"
        )  # fmt: skip
    ax.set_yticks(places, [NAMES[name] for name in table["model"]])
    ax.invert_yaxis()
    ax.set_xlim(0.0, 1.2 * float((outside + block).max()))
    ax.set_xlabel("share of parameters")
    ax.grid(axis="y", visible=False)
    ax.legend()
    return figure


def size_dots(context: FigureContext) -> Figure:
    """Draw one line per data set with our number and the paper's, on a logarithmic axis."""
    table, reference = context.table, context.reference
    figure, (ax,) = context.subplots(aspect=0.55)
    labels = [f"{row['dataset']}, {row['counted']}" for _, row in table.iterrows()]
    ours = table["num_counted"].astype("float64")
    ax.plot(
        ours.to_numpy(), range(len(table)), marker="o", ls="none", color=PALETTE[0], label="ours"
    )
    if not reference.empty:
        _papers(ax, labels, reference)
    ax.set_xscale("log")
    ax.set_yticks(range(len(table)), labels)
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.set_xlabel("number")
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def _papers(ax: Axes, labels: list[str], reference: pd.DataFrame) -> None:
    sizes = {f"{r['series']}, {r['y_name']}": r["value"] for _, r in reference.iterrows()}
    there = [(sizes[label], place) for place, label in enumerate(labels) if label in sizes]
    ax.plot(
        [value for value, _ in there], [place for _, place in there], marker="s", ls="none",
        mfc="none", markersize=8, color=PALETTE[1], label=standings(reference["status"]),
    )  # fmt: skip


def _short(count: float) -> str:
    """Return a count with three digits.

    >>> _short(6738415616.0), _short(2107520.0)
    ('6.74B', '2.11M')
    """
    return f"{count / 1e9:.3g}B" if count >= 1e9 else f"{count / 1e6:.3g}M"
