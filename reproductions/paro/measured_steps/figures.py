"""Figures of measured steps: bars beside what was predicted, and lines along an axis."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.publish.figures import MARKERS, PALETTE, FigureContext, log_numbers, plot_ours
from reproductions.paro.measured_steps.experiment import ACCUMULATED, BASELINES, OURS, SCALED
from reproductions.paro.measured_steps.table import MEGA, name_of

BAR, OTHER, MARK = "#9fc5e0", "#dddddd", PALETTE[1]


def step_panels(context: FigureContext) -> Figure:
    """Draw seconds per step with their prediction, and bytes held, per setting."""
    rows = context.table[context.table["nic"] == "rail"]
    wide = context.width == "double"
    figure, axes = context.subplots(*((1, 2) if wide else (2, 1)), sharey=wide, aspect=0.9)
    order = [*OURS, *BASELINES][::-1]
    found = rows.groupby("setting")[["step_s", "predicted_s", "held_bytes"]]
    # What nothing slowed has no time.
    means = found.mean().loc[order].astype("float64")
    errors = found.sem().loc[order].astype("float64").fillna(0.0)
    places = range(len(order))
    for names, color, said in ((OURS, BAR, "ours, measured"), (BASELINES, OTHER, "PyTorch's")):
        its = [place for place in places if order[place] in names]
        own, bars = means.iloc[its], errors["step_s"].iloc[its]
        axes[0].barh(its, own["step_s"], xerr=bars, color=color, label=said)
        axes[1].barh(its, own["held_bytes"] / MEGA, color=color)
    axes[0].plot(
        means["predicted_s"], places, linestyle="", marker="D", color=MARK, label="predicted"
    )
    axes[0].set_xlabel("seconds per step")
    context.legend_above(figure, axes[:1], 3)
    axes[1].set_xlabel("held per rank (MB)")
    axes[1].locator_params(axis="x", nbins=5)
    for ax in axes:
        ax.set_yticks(places, [name_of(name) for name in order])
        ax.grid(axis="y", visible=False)
    return figure


def accumulation_panels(context: FigureContext) -> Figure:
    """Draw rows per second against micro-batches per step."""
    return _lines(context, ACCUMULATED, x="accumulation", label="micro-batches per step")


def scaling_panels(context: FigureContext) -> Figure:
    """Draw rows per second against ranks."""
    return _lines(context, SCALED, x="num_ranks", label="ranks")


def _lines(context: FigureContext, names: Sequence[str], *, x: str, label: str) -> Figure:
    rows = context.table
    num_rows = rows["num_ranks"] * rows["batch_size"] * rows["accumulation"]
    rows = rows.assign(predicted_per_s=num_rows / rows["predicted_s"])
    figure, axes = context.subplots(1, 2, sharey=True, aspect=0.9)
    for ax, column, title in zip(
        axes, ("samples_per_s", "predicted_per_s"), ("measured", "predicted"), strict=True
    ):
        _panel(ax, rows, names, x=x, y=column)
        ax.set_title(title)
        ax.set_xlabel(label)
    log_numbers(axes[0].yaxis)  # of both
    axes[0].set_ylabel("rows per second")
    context.legend_above(figure, axes[:1], 5)
    return figure


def _panel(ax: Axes, rows: pd.DataFrame, names: Sequence[str], *, x: str, y: str) -> None:
    for name, color, marker in zip(names, PALETTE, MARKERS, strict=False):
        own = rows[rows["setting"] == name]
        plot_ours(ax, own, x=x, y=y, label=name_of(name), color=color, marker=marker)
    ax.set_xscale("log", base=2)
    at = sorted(rows[x].unique())
    ax.set_xticks(at, [str(number) for number in at])
