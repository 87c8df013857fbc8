"""Figures of what was run on SmolLM2."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.publish.figures import PALETTE, FigureContext
from reproductions.lisa.compared.experiment import LABELS, SCORED, TUNED, Way
from reproductions.lisa.compared.table import BY_MEMORY, EQUAL_MEMORY, TITLES
from reproductions.lisa.models.figures import legend_above, rate_lines, stacked_parts


def ends(context: FigureContext) -> Figure:
    """Draw every run's held-out loss as a dot, means as bars, and the untuned model's as a line."""
    figure, (ax,) = context.subplots(aspect=0.6)
    _dots(ax, context.table, [*BY_MEMORY, *EQUAL_MEMORY], value="loss")
    ax.set_xlabel("held-out loss (nats per token)")
    return figure


def accuracies(context: FigureContext) -> Figure:
    """Draw a panel per benchmark, a dot per run; guessing is dotted."""
    names = [name for name in TITLES if (context.table["benchmark"] == name).any()]
    figure, axes = context.subplots(1, len(names), aspect=0.6, sharey=True)
    for ax, name in zip(axes, names, strict=True):
        rows = context.table[context.table["benchmark"] == name]
        _dots(ax, rows, SCORED, value="accuracy")
        ax.axvline(rows["random_accuracy"].mean(), color=PALETTE[6], ls=":")
        ax.set(title=TITLES[name], xlabel="accuracy")
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
    stacked_parts(ax, counted, [LABELS[name] for name in order], size=scale)
    ax.plot(
        computed["total_bytes"] / scale, range(len(order)), marker="D", mfc="white",
        mec=PALETTE[6], ls="none", label="sum by arithmetic",
    )  # fmt: skip
    ax.set_xlabel(f"memory of a step ({unit})")
    legend_above(figure, [ax], columns=3)
    return figure


def rates(context: FigureContext) -> Figure:
    """Draw the validation loss against the learning rate, one line per method."""
    runs = {LABELS[way]: context.table[context.table["method"] == way] for way in TUNED}
    return rate_lines(context, runs, value="loss", split="validation", columns=3)


def _dots(ax: Axes, table: pd.DataFrame, ways: Sequence[Way], *, value: str) -> None:
    """Draw every run as a dot in its method's row, means as bars, the untuned model as a line."""
    for place, way in enumerate(ways):
        numbers = table.loc[table["method"] == way, value].dropna().astype(float)
        color = PALETTE[place % len(PALETTE)]
        ax.plot([numbers.mean()] * 2, [place - 0.3, place + 0.3], color=color, lw=2.0)
        ax.plot(numbers, [place] * len(numbers), ls="", marker="o", color=color, ms=4)
    untuned = table.loc[table["method"] == "untuned", value].dropna().astype(float)
    if len(untuned):
        ax.axvline(untuned.mean(), color=PALETTE[6], ls="--")
    ax.set_yticks(range(len(ways)), [LABELS[way] for way in ways])
    ax.set_ylim(len(ways) - 0.5, -0.5)
