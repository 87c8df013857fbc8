"""Figure 1: what methods can do, two phases, memory and score against depth, time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.publish.figures import MARKERS, PALETTE, FigureContext, plot_ours, plot_paper
from reproductions.fg2u.capabilities.quantities import STATED, flags

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMES = {
    "rgu": "RGU",
    "rgu-mixflow": "RGU, MixFlow",
    "neumann": "Neumann",
    "trgu": "TRGU",
    "hessian-free": "Hessian-free",
    "fg2u": "(FG)²U",
}
COLORS = dict(zip(NAMES, PALETTE, strict=False))
HEADS = ("constant\nmemory", "no Hessian\nproducts", "mini-\nbatches", "bias")
WORKERS_LABEL = "(FG)²U, {} worker{}"


def overview_panels(context: FigureContext) -> Figure:
    """Draw six panels; memory and time are relative, so that the paper's can stand beside."""
    figure, axes = context.subplots(2, 3, aspect=0.95)
    panels = (capabilities, phases, memory, depths, methods, efficiency)
    for ax, panel in zip(axes, panels, strict=True):
        panel(ax, context)
    return figure


def rows_of(context: FigureContext, panel: str) -> pd.DataFrame:
    return context.table[context.table["panel"] == panel]


def capabilities(ax: Axes, context: FigureContext) -> None:
    """Write the table of flags; a flag that is not the paper's is said to be so."""
    rows = rows_of(context, "capability").set_index("method")
    found = flags(context.table) if len(rows) else {}
    ax.set_axis_off()
    ax.set_title("measured on a small net")
    for column, head in enumerate(HEADS):
        ax.text(0.42 + 0.17 * column, 0.98, head, ha="center", va="top", fontsize=5.5)
    for place, method in enumerate(name for name in NAMES if name in found):
        height = 0.76 - 0.14 * place
        ax.text(0.0, height, NAMES[method], fontsize=6.5)
        for column, flag in enumerate(found[method]):
            told = "yes" if flag else "no"
            if method in STATED and flag != STATED[method][column]:
                told += "*"
            ax.text(0.42 + 0.17 * column, height, told, ha="center", fontsize=6.5)
        bias = float(rows.loc[method, "relative_bias"])
        told = "none" if bias < 1e-9 else f"{bias:.2f}"
        ax.text(0.42 + 0.17 * 3, height, told, ha="center", fontsize=6.5)


def phases(ax: Axes, context: FigureContext) -> None:
    """Draw the outer loss along the two phases, each in the colour of its method."""
    rows = rows_of(context, "phases")
    for method in ("hessian-free", "fg2u"):
        own = rows[rows["method"] == method]
        plot_ours(
            ax, own, x="outer_step", y="outer_loss", label=NAMES[method], color=COLORS[method]
        )
    change = rows.loc[rows["method"] == "hessian-free", "outer_step"].max()
    if len(rows):
        ax.axvline(float(change), color=PALETTE[6], lw=0.6, ls=":")
    ax.set_title("two phases")
    ax.set_xlabel("outer steps")
    ax.set_ylabel("outer loss (nats)")
    _legend(ax)


def memory(ax: Axes, context: FigureContext) -> None:
    """Draw memory against depth, that of RGU at its least depth being 1."""
    rows = rows_of(context, "depth")
    rgu = rows[rows["method"] == "rgu"]
    unit = float(rgu.loc[rgu["depth"] == rgu["depth"].min(), "peak_bytes"].mean())
    paper = _series(context, "online_adaptation", "gpu_memory")
    paper_unit = float(paper.loc[paper["x"] == paper["x"].min(), "value"].mean())
    for method, marker in zip(("rgu", "fg2u"), MARKERS, strict=False):
        own = rows[rows["method"] == method].assign(share=lambda own: own["peak_bytes"] / unit)
        look = {"color": COLORS[method], "marker": marker}
        plot_ours(ax, own, x="depth", y="share", label=NAMES[method], **look)
        read = paper[paper["series"].str.endswith(method)]
        read = read.assign(value=read["value"] / paper_unit)
        plot_paper(ax, read, label=f"{NAMES[method]}, online adaptation", **look)
    ax.set_yscale("log")
    ax.set_title("memory by depth")
    ax.set_xlabel("inner steps T")
    ax.set_ylabel("memory (RGU, T = 1: 1)")
    _legend(ax)


def depths(ax: Axes, context: FigureContext) -> None:
    """Draw the score against depth."""
    rows = rows_of(context, "depth")
    for method, marker in zip(("rgu", "fg2u"), MARKERS, strict=False):
        own = rows[rows["method"] == method]
        own = own.assign(percent=100.0 * own["test_accuracy"])
        label, color = NAMES[method], COLORS[method]
        plot_ours(ax, own, x="depth", y="percent", label=label, color=color, marker=marker)
    ax.set_title("score by depth")
    ax.set_xlabel("inner steps T")
    ax.set_ylabel("test accuracy (%)")
    _legend(ax)


def methods(ax: Axes, context: FigureContext) -> None:
    """Draw the lead over Hessian-free against memory, that of Hessian-free being 1."""
    rows = rows_of(context, "methods")
    base = rows[rows["method"] == "hessian-free"].set_index("seed")
    paper = context.reference
    paper = paper[paper["series"].str.startswith("condensation")]
    read = paper.pivot_table(index="series", columns="y_name", values="value")
    for method, marker in zip(("hessian-free", "trgu", "fg2u"), MARKERS, strict=False):
        own = rows[rows["method"] == method].set_index("seed")
        own = own.assign(
            lead=100.0 * (own["test_accuracy"] - base["test_accuracy"]),
            share=own["peak_bytes"] / base["peak_bytes"],
        )
        look = {"color": COLORS[method], "marker": marker}
        plot_ours(ax, own.reset_index(), x="share", y="lead", label=NAMES[method], **look)
        if len(read):
            its = read.loc[f"condensation {method}"]
            unit = read.loc["condensation hessian-free"]
            ax.plot(
                its["gpu_memory"] / unit["gpu_memory"],
                its["test_accuracy"] - unit["test_accuracy"],
                mfc="white", ls="none", label=f"{NAMES[method]}, CIFAR-100 (paper)", **look,
            )  # fmt: skip
    ax.set_title("memory and score")
    ax.set_xlabel("memory (Hessian-free: 1)")
    ax.set_ylabel("points above Hessian-free")
    _legend(ax)


def efficiency(ax: Axes, context: FigureContext) -> None:
    """Draw time against memory, (FG)2U's with one direction at a time being 1."""
    rows = rows_of(context, "efficiency")
    own = rows[rows["method"] == "fg2u"]
    least = own[(own["chunk"] == own["chunk"].min()) & (own["workers"] == 1)]
    unit_s, unit_bytes = least["median_s"].mean(), least["peak_bytes"].mean()
    rows = rows.assign(time=rows["median_s"] / unit_s, memory=rows["peak_bytes"] / unit_bytes)
    read = _series(context, "efficiency", "seconds_per_step")
    slowest = read.loc[read["value"].idxmax()] if len(read) else None
    for color, workers in zip(PALETTE, (1, 2, 4, 8), strict=False):
        own = rows[(rows["method"] == "fg2u") & (rows["workers"] == workers)]
        label = WORKERS_LABEL.format(workers, "s" if workers > 1 else "")
        plot_ours(ax, own, x="memory", y="time", label=label, color=color)
        if slowest is not None:
            its = read[read["series"] == f"efficiency fg2u gpus_{workers}"]
            its = its.assign(x=its["x"] / slowest["x"], value=its["value"] / slowest["value"])
            plot_paper(ax, its, label=f"{workers} GPU{'s' if workers > 1 else ''}", color=color)
    for method, marker in (("trgu", "s"), ("hessian-free", "^")):
        own = rows[rows["method"] == method]
        look = {"color": COLORS[method], "marker": marker}
        plot_ours(ax, own, x="memory", y="time", label=NAMES[method], **look)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_title("time and memory")
    ax.set_xlabel("memory (one at a time: 1)")
    ax.set_ylabel("time (one at a time: 1)")
    _legend(ax)


def _series(context: FigureContext, start: str, name: str) -> pd.DataFrame:
    rows = context.reference
    return rows[rows["series"].str.startswith(start) & (rows["y_name"] == name)]


def _legend(ax: Axes) -> None:
    if ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize=4.8)
