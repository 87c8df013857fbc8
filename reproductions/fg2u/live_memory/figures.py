"""Figure of live memory: against depth, chunk and N, a row per net."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.publish.figures import HATCHES, MARKERS, PALETTE, FigureContext, plot_ours
from reproductions.fg2u.live_memory.quantities import SHALLOW

LABELS = {
    "rgu": "RGU",
    "rgu-checkpoint": "RGU, checkpoints",
    "rgu-mixflow 1": "MixFlow",
    "rgu-mixflow 0": "MixFlow, checkpoints",
    "trgu 1": "TRGU, 1 step",
    "trgu 5": "TRGU, 5 steps",
    "neumann": "Neumann",
    "hessian-free": "Hessian-free",
    "fg2u-zo": "(FG)²U-ZO",
    "fg2u": "(FG)²U",
}
DEPTHS = (
    "rgu",
    "rgu-checkpoint",
    "rgu-mixflow 1",
    "rgu-mixflow 0",
    "trgu 5",
    "hessian-free",
    "fg2u",
)
"""Drawn against inner steps; what lies on another line is among the bars."""
SIZES = ("N", "4 N")


def memory_panels(context: FigureContext) -> Figure:
    """Draw three panels per net."""
    table = in_units(context.table)
    nets = list(table["net"].unique())
    beside = context.width == "double"
    if beside:
        figure, axes = context.subplots(len(nets), 3, aspect=0.95)
    else:
        lines = 2 * len(nets)
        figure, axes = context.subplots(lines, 2, aspect=1.3, skip=range(3, 2 * lines, 4))
        for bars in axes[2::3]:
            _widen(bars)
    for place, net in enumerate(nets):
        own = table[table["net"] == net]
        by_depth, by_chunk, bars = axes[3 * place : 3 * place + 3]
        _against_depth(by_depth, own, net)
        _against_chunk(by_chunk, own)
        _bars(bars, own)
    context.legend_above(figure, axes[:1], 4, narrow=2)
    return figure


def _widen(ax: Axes) -> None:
    """Give a panel the whole width below its neighbours: its bars have long names."""
    spec = ax.get_subplotspec()
    assert spec is not None
    ax.set_subplotspec(spec.get_gridspec()[spec.rowspan.start, :])


def in_units(table: pd.DataFrame) -> pd.DataFrame:
    """Return rows of equal batches with `name`, and `ratio` to the plain unroll of the setting."""
    rows = table[table["outer_batch"] == table["inner_batch"]].dropna(subset=["peak_bytes"])
    setting = ["net", "depth", "num_images"]
    plain = rows[rows["method"] == "plain"].set_index(setting)["peak_bytes"]
    unit = plain.reindex(pd.MultiIndex.from_frame(rows[setting])).to_numpy(dtype="float64")
    named = rows["method"].where(~rows["method"].isin(["trgu", "rgu-mixflow"]), other=None)
    extra = rows["keep"].where(rows["method"] == "trgu", rows["segment"]).astype(str)
    return rows.assign(
        ratio=rows["peak_bytes"].astype(float) / unit,
        name=named.fillna(rows["method"] + " " + extra),
    )


def _against_depth(ax: Axes, rows: pd.DataFrame, net: str) -> None:
    once = rows[(rows["num_images"] == rows["inner_batch"]) & (rows["chunk"] <= 1)]
    for place, name in enumerate(DEPTHS):
        plot_ours(
            ax, once[once["name"] == name], x="depth", y="ratio", label=LABELS[name],
            color=PALETTE[place % len(PALETTE)], marker=MARKERS[place % len(MARKERS)],
        )  # fmt: skip
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:g}")
    ax.set_title(net)
    ax.set_xlabel("inner steps T")
    ax.set_ylabel("bytes (plain unroll = 1)")


def _against_chunk(ax: Axes, rows: pd.DataFrame) -> None:
    own = rows[(rows["name"] == "fg2u") & (rows["depth"] == SHALLOW)]
    for place, (_, group) in enumerate(own.groupby("num_meta")):
        plot_ours(
            ax, group, x="chunk", y="ratio", label=SIZES[place],
            color=PALETTE[DEPTHS.index("fg2u")], marker=MARKERS[place], style=("-", "--")[place],
        )  # fmt: skip
    ax.set_title(f"(FG)²U, N = {own['num_meta'].min():,}")
    ax.set_xlabel("directions at a time")
    ax.set_ylabel("bytes (plain unroll = 1)")
    ax.legend(loc="upper left")


def _bars(ax: Axes, rows: pd.DataFrame) -> None:
    own = rows[(rows["depth"] == SHALLOW) & (rows["chunk"] <= 1)]
    names = [name for name in LABELS if name in set(own["name"])]
    for place, (_, group) in enumerate(own.groupby("num_meta")):
        ratios = group.set_index("name")["ratio"].reindex(names)
        heights = [at + (place - 0.5) * 0.4 for at in range(len(names))]
        ax.barh(
            heights, ratios, height=0.38, color=PALETTE[place], hatch=HATCHES[place],
            label=SIZES[place],
        )  # fmt: skip
    ax.set_yticks(range(len(names)), [LABELS[name] for name in names])
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set_title(f"T = {SHALLOW}")
    ax.set_xlabel("bytes (plain unroll = 1)")
    ax.legend(loc="lower right")
