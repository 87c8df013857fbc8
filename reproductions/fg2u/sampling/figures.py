"""Figures of noise: error by directions, and cosine beside methods that are biased."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from harness.publish.figures import MARKERS, PALETTE, FigureContext, plot_ours
from reproductions.fg2u.method.noise import expected_square
from reproductions.fg2u.sampling.experiment import COORDINATE, GAUSSIAN, RADEMACHER, SAMPLED

KINDS = {
    RADEMACHER: "Rademacher",
    GAUSSIAN: "Gaussian",
    COORDINATE: "coordinates, no replacement",
}
BIASED = {
    "trgu-2": "TRGU, 2 steps",
    "trgu-5": "TRGU, 5 steps",
    "trgu-10": "TRGU, 10 steps",
    "neumann-20": "Neumann, 20 terms",
    "hessian-free": "Hessian-free",
}
LINES = ("-", "--", ":")


def error_panels(context: FigureContext) -> Figure:
    """Draw error against b, a panel per number of meta variables, closed forms as lines."""
    table = context.table[context.table["num_steps"] == context.table["num_steps"].min()]
    sizes = sorted(table["num_meta"].unique())
    is_wide = context.width == "double"
    aspect = 0.8 if is_wide else 1.3
    figure, axes = context.subplots(1, len(sizes), aspect=aspect, sharey=True)
    for ax, num_meta in zip(axes, sizes, strict=True):
        for index, (method, label) in enumerate(KINDS.items()):
            rows = table[(table["num_meta"] == num_meta) & (table["method"] == method)]
            color, marker = PALETTE[index], MARKERS[index]
            plot_ours(
                ax, rows, x="num_directions", y="relative_error", label=label, color=color,
                marker=marker, style="",
            )  # fmt: skip
            _closed_form(ax, rows, method, int(num_meta), color, LINES[index])
        _logarithmic(ax, "directions b", title=f"N = {num_meta}")
    axes[0].set_yscale("log")  # of all
    axes[0].set_ylabel("relative error")
    context.legend_above(figure, axes[:1], 3, narrow=1)
    return figure


def _closed_form(
    ax: Axes, rows: pd.DataFrame, method: str, num_meta: int, color: str, style: str
) -> None:
    if rows.empty:
        return
    b = np.unique(rows["num_directions"].to_numpy(dtype="int64"))
    heights = [
        float(expected_square(SAMPLED[method], num_meta, int(each)) or 0.0) ** 0.5 for each in b
    ]
    ax.plot(b, heights, color=color, linestyle=style, linewidth=0.9)


def cosine_panels(context: FigureContext) -> Figure:
    """Draw cosines against b and against seconds, a row of panels per depth."""
    table = context.table[context.table["num_meta"] == context.table["num_meta"].max()]
    depths = sorted(table["num_steps"].unique())
    ends = (0.7 * float(table["seconds"].min()), 1.4 * float(table["seconds"].max()))
    is_wide = context.width == "double"
    aspect = 0.62 if is_wide else 1.15
    figure, axes = context.subplots(len(depths), 2, aspect=aspect, sharey=True)
    for number, depth in enumerate(depths):
        rows = table[table["num_steps"] == depth]
        left, right = axes[2 * number], axes[2 * number + 1]
        _by_directions(left, rows)
        _by_seconds(right, rows)
        right.set_xlim(*ends)
        left.set_ylabel("cosine")
        _logarithmic(left, "directions b", title=f"{depth} inner steps")
        _logarithmic(right, "seconds per estimate", title=f"{depth} inner steps")
    context.legend_above(figure, axes[:1], 4, narrow=2)
    return figure


def _by_directions(ax: Axes, rows: pd.DataFrame) -> None:
    own = rows[rows["method"] == RADEMACHER]
    plot_ours(ax, own, x="num_directions", y="cosine", label="(FG)²U", color=PALETTE[0], style="")
    num_meta = int(own["num_meta"].iloc[0])
    b = np.geomspace(1, own["num_directions"].max(), 60)
    ax.plot(b, np.sqrt(b / (b + num_meta - 1)), color=PALETTE[0], label="its closed form")
    for index, (method, label) in enumerate(BIASED.items(), start=1):
        height = float(rows.loc[rows["method"] == method, "cosine"].mean())
        ax.axhline(height, color=PALETTE[index], linestyle="--", linewidth=0.9)
        # One mark in the line, as the panel beside it has.
        ax.plot(
            [1.0], [height], color=PALETTE[index], marker=MARKERS[index], linestyle="--",
            linewidth=0.9, label=label,
        )  # fmt: skip


def _by_seconds(ax: Axes, rows: pd.DataFrame) -> None:
    own = rows[rows["method"] == RADEMACHER].groupby("num_directions")[["seconds", "cosine"]].mean()
    ax.plot(*own.to_numpy("float64").T, color=PALETTE[0], marker=MARKERS[0])
    for index, method in enumerate(BIASED, start=1):
        found = rows[rows["method"] == method]
        plot_ours(
            ax, found.assign(seconds=found["seconds"].mean()), x="seconds", y="cosine", label="",
            color=PALETTE[index], marker=MARKERS[index], style="",
        )  # fmt: skip


def _logarithmic(ax: Axes, name: str, *, title: str) -> None:
    ax.set(xscale="log", xlabel=name, title=title)
    # Where less than a decade is shown they would be labelled, over one another.
    ax.xaxis.set_minor_formatter(NullFormatter())
