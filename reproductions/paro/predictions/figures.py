"""Figures of predictions: memory beside the indicator, and scaling."""

from __future__ import annotations

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from harness.publish.figures import MARKERS, PALETTE, FigureContext, plot_ours, plot_paper, points
from reproductions.paro.models.paper_inputs import ACCUMULATION, SHARES
from reproductions.paro.predictions.experiment import COMPARED, GPUS, SCALED
from reproductions.paro.predictions.table import BASELINES, name_of

BAR, TOO_MUCH, LINE = "#9fc5e0", "#dddddd", PALETTE[1]
CEILING_GB = 100.0
"""Bars are cut off above; what they stand for does not fit."""
GB = 1e9
SHORT = {"ZeRO-2": "Z2", "ZeRO-3": "Z3"}


def indicator_panels(context: FigureContext) -> Figure:
    """Draw a panel per model and trainable share: bars of memory, a line of log(1/T)."""
    named = context.table.groupby(["trainable", "model"], sort=False)
    panels = [(str(share), str(model), rows) for (share, model), rows in named]
    # The paper has a share's models beside each other.
    panels.sort(key=lambda panel: panel[0])
    wide = context.width == "double"
    columns = 2 if len(panels) > 1 and wide else 1
    figure, axes = context.subplots(
        -(-len(panels) // columns),
        columns,
        sharex=True,
        aspect=0.5 if wide and columns == 1 else 0.8 if wide or columns == len(panels) else 0.62,
    )
    for ax, (share, model, rows) in zip(axes, panels, strict=True):
        given = context.reference
        quoted = given[given["series"].str.startswith(model) & (given["x"] == SHARES[share])]
        _indicator(ax, rows.set_index("strategy").loc[list(COMPARED)], quoted)
        ax.set_title(f"{model}, {'all' if share == '1' else share} trained")
    _legend(figure)
    return figure


def _legend(figure: Figure) -> None:
    handles: list[Artist] = [
        Patch(color=BAR, label="memory"),
        Patch(color=TOO_MUCH, label="memory, does not fit"),
        Line2D([], [], color=LINE, marker="o", label="log(1/T), on the right"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)


def _quote(ax: Axes, rows: pd.DataFrame, quoted: pd.DataFrame) -> None:
    """Write the gains that the text quotes above the line's points."""
    names = list(rows.index)
    told = {names.index(str(series).split()[-1]) for series in quoted["series"]}
    for each in quoted.itertuples():
        strategy, baseline = str(each.series).split()[-1], str(each.y_name).split("_")[-1]
        # Beside a neighbour's there is no room above.
        below = bool(told & {names.index(strategy) - step for step in (1, 2)})
        ax.annotate(
            f"+{each.value:g} %\n({SHORT[baseline]})",
            (names.index(strategy), rows["log10_steps_per_s"][strategy]),
            xytext=(0, -4 if below else 4), textcoords="offset points", ha="center",
            va="top" if below else "bottom", fontsize=points(6.0),
            bbox={"facecolor": "white", "alpha": 0.8, "linewidth": 0.0, "pad": 0.2},
        )  # fmt: skip


def _indicator(ax: Axes, rows: pd.DataFrame, quoted: pd.DataFrame) -> None:
    places = range(len(rows))
    memory = rows["memory_bytes"].astype(float) / GB
    fits = rows["fits"].astype(bool)
    ax.bar(places, memory.clip(upper=CEILING_GB), color=[BAR if f else TOO_MUCH for f in fits])
    for at, (fit, gb) in enumerate(zip(fits, memory, strict=True)):
        if not fit:
            ax.text(at, 5, f"{gb:.0f}", ha="center", va="bottom", rotation=90, fontsize=points(6.0))
            ax.plot([at], [30], marker="x", color="#333333", markersize=5)
    ax.axhline(80, color="#333333", linestyle=":", linewidth=0.8)
    ax.set_ylim(0, CEILING_GB)
    ax.set_ylabel("memory (GB)")
    ax.set_xticks(places, [name_of(name) for name in rows.index], rotation=60, ha="right")
    ax.grid(axis="x", visible=False)
    line = ax.twinx()
    line.plot(places, rows["log10_steps_per_s"], color=LINE, marker="o")
    line.set_ylabel("log(1/T), base 10", color=LINE)
    line.grid(visible=False)
    line.margins(y=0.4)
    _quote(line, rows, quoted)


def scaling_panels(context: FigureContext) -> Figure:
    """Draw samples per second, and speed-up ratios by either reading, against GPUs."""
    rows = context.table
    rows = rows[(rows["accumulation"] == ACCUMULATION) & (rows["nic"] == "rail")]
    wide = context.width == "double"
    figure, axes = context.subplots(*((1, 3) if wide else (3, 1)), aspect=1.5 if wide else 0.7)
    for ax, world, column in (
        (axes[0], "flat", "samples_per_s_at_most"),
        (axes[1], "flat", "speedup_ratio"),
        (axes[2], "hier", "speedup_ratio"),
    ):
        quoted = context.reference if column == "speedup_ratio" else None
        _scaling(ax, rows[rows["world"] == world], column, quoted)
        ax.set_title({"flat": "one ring", "hier": "PaRO-CC"}[world])
    axes[0].set_yscale("log")
    axes[0].set_ylabel("samples/s, at most")
    for ax in axes[1:]:
        ax.set_ylim(0.45, 1.03)
        ax.set_ylabel("speed-up ratio")
    context.legend_above(figure, axes[1:2], 3, narrow=2)
    return figure


def _scaling(ax: Axes, rows: pd.DataFrame, column: str, quoted: pd.DataFrame | None) -> None:
    for number, (name, color, marker) in enumerate(zip(SCALED, PALETTE, MARKERS, strict=False)):
        own, label = rows[rows["strategy"] == name], name_of(name)
        drawn = len(ax.lines)
        plot_ours(ax, own, x="num_gpus", y=column, label=label, color=color, marker=marker)
        for line in ax.lines[drawn:]:
            # What lies below another line is seen round its marks.
            line.set_markersize((1.8 - 0.25 * number) * line.get_markersize())
        if quoted is not None:
            # The text has no x: its ratios are of 16 to 128 GPUs.
            known = quoted[quoted["series"] == BASELINES.get(name, name)].assign(x=GPUS[-1])
            plot_paper(ax, known, label=label, color=color, marker=marker)
    ax.set_xscale("log", base=2)
    ax.set_xticks(GPUS, [str(number) for number in GPUS])
    ax.set_xlabel("GPUs")
