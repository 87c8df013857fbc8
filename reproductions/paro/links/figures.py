"""Figure of an all-gather's time on the testbed, measured and predicted."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.declare.statistics import aggregate
from harness.publish.figures import HATCHES, PALETTE, FigureContext
from reproductions.paro.links.experiment import ALGORITHMS, LAYOUTS, NICS, Algorithm

WIDTH = 0.26


def gather_panels(context: FigureContext) -> Figure:
    """Draw milliseconds by layout of ranks, for both ways of links."""
    beside = context.width == "double"
    figure, axes = context.subplots(*((1, 2) if beside else (2, 1)), aspect=0.7)
    for ax, (nic, words) in zip(axes, NICS.items(), strict=True):
        rows = context.table[context.table["nic"] == nic]
        for number, algorithm in enumerate(ALGORITHMS):
            _bars(ax, rows[rows["algorithm"] == algorithm], algorithm, number)
        ax.set_xticks(range(len(LAYOUTS)), [f"{groups} x {ranks}" for groups, ranks in LAYOUTS])
        ax.set_xlabel("groups x ranks")
        ax.set_ylabel("time (ms)")
        ax.set_title(words)
        ax.grid(axis="x", visible=False)
    context.legend_above(figure, axes[:1], 4, narrow=2)
    return figure


def _bars(ax: Axes, rows: pd.DataFrame, algorithm: Algorithm, number: int) -> None:
    """Draw an algorithm's bars, and what the formula has for them."""
    for place, (groups, ranks) in enumerate(LAYOUTS):
        here = rows[(rows["num_groups"] == groups) & (rows["ranks_per_group"] == ranks)]
        here = here.dropna(subset=["median_ms"])
        if here.empty:
            continue
        found = aggregate(here, by=["algorithm"], value="median_ms").iloc[0]
        x = place + (number - 1) * WIDTH
        ax.bar(x, found["mean"], WIDTH, color=PALETTE[number], hatch=HATCHES[number],
               label=None if place else ALGORITHMS[algorithm])  # fmt: skip
        ax.errorbar(x, found["mean"], yerr=found["sem"] or None, color=PALETTE[6], ls="none")
        if here["predicted_ms"].notna().all():
            label = "by formula" if (place, algorithm) == (0, "flat") else None
            ax.plot(x, here["predicted_ms"].mean(), marker="D", mfc="white", mec=PALETTE[6],
                    ls="none", label=label)  # fmt: skip
