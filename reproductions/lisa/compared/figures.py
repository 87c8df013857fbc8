"""Figures of what was run on SmolLM2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.publish.figures import HATCHES, MARKERS, PALETTE, FigureContext, plot_ours
from reproductions.lisa.compared.experiment import LABELS, SCORED, TUNED
from reproductions.lisa.compared.table import BY_MEMORY, EQUAL_MEMORY, TITLES
from reproductions.lisa.models.figures import legend_above

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PARTS = {
    "weights": "weights_bytes",
    "activations": "saved_bytes",
    "gradients": "gradients_bytes",
    "moments": "moments_bytes",
}


def ends(context: FigureContext) -> Figure:
    """Draw every run's held-out loss as a dot, means as bars, and the untuned model's as a line."""
    figure, (ax,) = context.subplots(aspect=0.6)
    _dots(ax, context.table, [*BY_MEMORY, *EQUAL_MEMORY], value="loss")
    ax.set_ylabel("held-out loss (nats per token)")
    return figure


def accuracies(context: FigureContext) -> Figure:
    """Draw a panel per benchmark, a dot per run; guessing is dotted."""
    names = [name for name in TITLES if (context.table["benchmark"] == name).any()]
    figure, axes = context.subplots(1, len(names), aspect=0.9)
    for ax, name in zip(axes, names, strict=True):
        rows = context.table[context.table["benchmark"] == name]
        _dots(ax, rows, SCORED, value="accuracy")
        ax.axhline(rows["random_accuracy"].mean(), color=PALETTE[6], ls=":")
        ax.set_title(TITLES[name])
    axes[0].set_ylabel("accuracy")
    return figure


def held_bars(context: FigureContext) -> Figure:
    """Draw a counted step's parts as a stacked bar, and their sum by arithmetic as a mark."""
    figure, (ax,) = context.subplots(aspect=0.6)
    order = [*BY_MEMORY, *EQUAL_MEMORY]
    counted, computed = (
        context.table[context.table["how"] == how].set_index("method").reindex(order)
        for how in ("count", "arithmetic")
    )
    unit, scale = ("GB", 1e9) if counted["total_bytes"].max() >= 1e8 else ("MB", 1e6)
    left = 0.0 * counted["total_bytes"]
    for (label, name), color, hatch in zip(PARTS.items(), PALETTE, HATCHES, strict=False):
        width = counted[name] / scale
        ax.barh(range(len(order)), width, left=left, color=color, hatch=hatch, label=label)
        left = left + width
    ax.plot(
        computed["total_bytes"] / scale, range(len(order)), marker="D", mfc="white",
        mec=PALETTE[6], ls="none", label="sum by arithmetic",
    )  # fmt: skip
    ax.set_yticks(range(len(order)), [LABELS[name] for name in order])
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(f"memory of a step ({unit})")
    legend_above(figure, [ax], columns=3)
    return figure


def rates(context: FigureContext) -> Figure:
    """Draw the validation loss against the learning rate, one line per method."""
    figure, (ax,) = context.subplots(aspect=0.6)
    for number, method in enumerate(TUNED):
        rows = context.table[context.table["method"] == method]
        if len(rows):
            plot_ours(
                ax, rows, x="lr", y="loss", label=LABELS[method], color=PALETTE[number % 7],
                marker=MARKERS[number % len(MARKERS)], style="-" if number < 7 else "--",
            )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xlabel("learning rate")
    ax.set_ylabel("validation loss (nats per token)")
    legend_above(figure, [ax], columns=3)
    return figure


def _dots(ax: Axes, table: pd.DataFrame, methods: Sequence[str], *, value: str) -> None:
    """Draw every run as a dot, each method's mean as a bar, and the untuned model as a line."""
    for place, method in enumerate(methods):
        numbers = table.loc[table["method"] == method, value].dropna().astype(float)
        color = PALETTE[place % len(PALETTE)]
        ax.plot([place - 0.25, place + 0.25], [numbers.mean()] * 2, color=color, lw=2.0)
        ax.plot([place] * len(numbers), numbers, ls="", marker="o", color=color, ms=4)
    untuned = table.loc[table["method"] == "untuned", value].dropna().astype(float)
    if len(untuned):
        ax.axhline(untuned.mean(), color=PALETTE[6], ls="--")
    names = [LABELS[name].replace(", ", ",\n") for name in methods]  # type: ignore[index]
    ax.set_xticks(range(len(methods)), names, rotation=30, ha="right")
