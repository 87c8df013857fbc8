"""Figure of losses by strategy, and of how far they are from those of one process."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.declare.table import matching
from harness.publish.figures import MARKERS, PALETTE, FigureContext, plot_ours
from reproductions.paro.convergence.experiment import ALONE, FIGURE_7, PYTORCH
from reproductions.paro.convergence.quantities import TOLERANCES

SHOWN = {ALONE: "one process", "FSDP2": "FSDP2", **{name: name for name in FIGURE_7}}
STYLES = ("-", (0, (6, 3)), (2, (5, 4)), (4, (4, 5)), (6, (3, 6)), (8, (2, 7)))
"""Of lines that lie on one another: a gap of one shows the others."""
DASHES = ("-", (0, (4, 1.5)), ":")
"""By precision."""
FLOOR = 1e-17
"""What stands for a difference of nothing on a log scale."""


def loss_panels(context: FigureContext) -> Figure:
    """Draw losses of the paper's four, and differences of all."""
    wide = context.width == "double"
    figure, axes = context.subplots(*((1, 2) if wide else (2, 1)), aspect=0.8)
    _losses(axes[0], context.table)
    _differences(axes[1], context.table)
    for ax in axes:
        ax.set_xlabel("optimizer step")
    return figure


def _losses(ax: Axes, table: pd.DataFrame) -> None:
    low = matching(table, {"precision": "bfloat16", "micro_steps": 4})
    rows = low if len(low) else table
    for place, (name, label) in enumerate(SHOWN.items()):
        own, drawn = rows[rows["method"] == name], len(ax.lines)
        look: dict[str, Any] = {"color": PALETTE[place], "style": STYLES[place]}
        plot_ours(ax, own, x="step", y="loss", label=label, marker=MARKERS[place], **look)
        for line in ax.lines[drawn:]:
            line.set_markevery((place, len(SHOWN)))
    ax.set_ylabel("training loss (nats)")
    ax.legend()


def _differences(ax: Axes, table: pd.DataFrame) -> None:
    rows = table[table["method"] != ALONE].copy()
    rows["largest_difference"] = rows["largest_difference"].clip(lower=FLOOR)
    run = ["method", "micro_steps", "methods", "seed"]
    for (precision, allowed), color, dashes in zip(
        TOLERANCES.items(), PALETTE, DASHES, strict=False
    ):
        own = rows[rows["precision"] == precision]
        for (name, *_), line in own.groupby(run):
            ax.plot(line["step"], line["largest_difference"], color=color, linestyle=dashes,
                    linewidth=0.6, marker="x" if name in PYTORCH else "", markersize=3)  # fmt: skip
        if len(own):
            ax.plot([], [], color=color, linestyle=dashes, label=precision)
            ax.axhline(allowed, color=color, linestyle="-.", linewidth=0.9)
    ax.set_yscale("log")
    ax.set_ylim(FLOOR / 3, 1.0)
    ax.set_ylabel("largest relative difference")
    # Between the bands of float32 and float64.
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 0.18))
