"""Figure 1: what methods can do, two phases, memory and score against depth, time."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.publish.figures import (
    MARKERS,
    PALETTE,
    FigureContext,
    log_numbers,
    plot_ours,
    plot_paper,
    points,
)
from reproductions.fg2u.overview.quantities import EXACT, STATED, flags

NAMES = {
    "rgu": "RGU",
    "rgu-mixflow": "RGU, MixFlow",
    "neumann": "Neumann",
    "trgu": "TRGU",
    "hessian-free": "Hessian-free",
    "fg2u": "(FG)²U",
}
LOOKS: dict[str, dict[str, Any]] = {
    method: {"color": color, "marker": marker}
    for method, color, marker in zip(NAMES, PALETTE, MARKERS, strict=False)
}
SHARED = {"color": PALETTE[6], "marker": "D"}
"""(FG)2U's look where processes or GPUs share the directions."""
HEADS = ("memory\nconstant", "Hessian-\nfree", "mini-\nbatches", "bias")
PLACES = (0.27, 0.6, 0.89, 1.1)
NARROW_PLACES = (0.36, 0.65, 0.91, 1.15)


def overview_panels(context: FigureContext) -> Figure:
    """Draw six panels; memory and time are relative, so that the paper's can stand beside."""
    figure, axes = context.subplots(2, 3, aspect=0.95, turn=False)
    panels = (capabilities, phases, memory, depths, methods, efficiency)
    for ax, panel in zip(axes, panels, strict=True):
        panel(ax, context)
    context.legend_above(figure, axes, 4, narrow=2)
    return figure


def rows_of(context: FigureContext, panel: str) -> pd.DataFrame:
    return context.table[context.table["panel"] == panel]


def capabilities(ax: Axes, context: FigureContext) -> None:
    """Write the table of flags; a flag that is not the paper's has a star."""
    rows = rows_of(context, "capability").set_index("method")
    found = flags(context.table) if len(rows) else {}
    ax.set_axis_off()
    narrow = context.width == "single"
    ax.set_title("measured on a small net", pad=31.0 if narrow else None)
    small: dict[str, Any] = {"fontsize": points(6.0), "transform": ax.transAxes, "va": "top"}
    above: dict[str, Any] = {**small, "va": "bottom", "rotation_mode": "anchor", "ha": "center"}
    if narrow:
        above |= {"ha": "left", "rotation": 45}
    places = NARROW_PLACES if narrow else PLACES
    for place, head in zip(places, HEADS, strict=True):
        ax.text(place, 0.8, head.replace("\n", "" if "-" in head else " ") if narrow else head,
                **above)  # fmt: skip
    for line, method in enumerate(name for name in NAMES if name in found):
        height = 0.74 - 0.14 * line
        ax.text(-0.4 if narrow else -0.28, height, NAMES[method], **small)
        stated = STATED.get(method, found[method])
        told = [
            ("yes" if flag else "no") + ("" if flag == its else "*")
            for flag, its in zip(found[method], stated, strict=True)
        ]
        bias = float(rows["relative_bias"].astype(float)[method])
        told.append("none" if bias < EXACT else f"{bias:.2f}")
        for place, word in zip(places, told, strict=True):
            ax.text(place, height, word, ha="center", **small)


def phases(ax: Axes, context: FigureContext) -> None:
    """Draw the outer loss along the two phases, each in the colour of its method."""
    rows = rows_of(context, "phases")
    for method in ("hessian-free", "fg2u"):
        own = rows[rows["method"] == method]
        plot_ours(ax, own, x="outer_step", y="outer_loss", label=NAMES[method], **LOOKS[method])
    change = rows.loc[rows["method"] == "hessian-free", "outer_step"].max()
    if len(rows):
        ax.axvline(float(change), color=PALETTE[6], lw=0.6, ls=":")
    ax.set_title("two phases")
    ax.set_xlabel("outer steps")
    ax.set_ylabel("outer loss (nats)")


def memory(ax: Axes, context: FigureContext) -> None:
    """Draw memory against depth, that of RGU at its least depth being 1."""
    rows = rows_of(context, "depth")
    rgu = rows[rows["method"] == "rgu"]
    unit = float(rgu.loc[rgu["depth"] == rgu["depth"].min(), "peak_bytes"].mean())
    paper = _series(context, "online_adaptation", "gpu_memory")
    paper_unit = float(paper.loc[paper["x"] == paper["x"].min(), "value"].mean())
    for method in ("rgu", "fg2u"):
        own = rows[rows["method"] == method].assign(share=lambda own: own["peak_bytes"] / unit)
        plot_ours(ax, own, x="depth", y="share", label=NAMES[method], **LOOKS[method])
        read = paper[paper["series"].str.endswith(method)]
        read = read.assign(value=read["value"] / paper_unit)
        plot_paper(ax, read, label=NAMES[method], **LOOKS[method])
    log_numbers(ax.yaxis)
    ax.set_title("memory by depth")
    ax.set_xlabel("inner steps T")
    ax.set_ylabel("memory (RGU, T = 1: 1)")


def depths(ax: Axes, context: FigureContext) -> None:
    """Draw the score against depth."""
    rows = rows_of(context, "depth")
    for method in ("rgu", "fg2u"):
        own = rows[rows["method"] == method]
        own = own.assign(percent=100.0 * own["test_accuracy"])
        plot_ours(ax, own, x="depth", y="percent", label=NAMES[method], **LOOKS[method])
    ax.set_title("score by depth")
    ax.set_xlabel("inner steps T")
    ax.set_ylabel("test accuracy (%)")


def methods(ax: Axes, context: FigureContext) -> None:
    """Draw the lead over Hessian-free against memory, that of Hessian-free being 1."""
    rows = rows_of(context, "methods")
    base = rows[rows["method"] == "hessian-free"].set_index("seed")
    paper = context.reference
    paper = paper[paper["series"].str.startswith("condensation")]
    read = paper.pivot_table(index="series", columns="y_name", values="value")
    for method in ("hessian-free", "trgu", "fg2u"):
        own = rows[rows["method"] == method].set_index("seed")
        own = own.assign(
            lead=100.0 * (own["test_accuracy"] - base["test_accuracy"]),
            share=own["peak_bytes"] / base["peak_bytes"],
        )
        plot_ours(ax, own.reset_index(), x="share", y="lead", label=NAMES[method], **LOOKS[method])
        if read.empty:
            continue
        unit, its = (read.loc[[f"condensation {name}"]] for name in ("hessian-free", method))
        point = its.assign(
            x=its["gpu_memory"] / float(unit["gpu_memory"].iloc[0]),
            value=its["test_accuracy"] - float(unit["test_accuracy"].iloc[0]),
            abs_err=0.0,
            status="digitised",
        )
        plot_paper(ax, point, label=NAMES[method], **LOOKS[method])
    ax.set_title("memory and score")
    ax.set_xlabel("memory (Hessian-free: 1)")
    ax.set_ylabel("points above Hessian-free")


def efficiency(ax: Axes, context: FigureContext) -> None:
    """Draw time against memory, (FG)2U's with one direction at a time being 1."""
    rows = rows_of(context, "efficiency")
    own = rows[rows["method"] == "fg2u"]
    least = own[(own["chunk"] == own["chunk"].min()) & (own["workers"] == 1)]
    unit_s, unit_bytes = least["median_s"].mean(), least["peak_bytes"].mean()
    rows = rows.assign(time=rows["median_s"] / unit_s, memory=rows["peak_bytes"] / unit_bytes)
    read = _series(context, "efficiency", "seconds_per_step")
    slowest = read.nlargest(1, "value").iloc[0] if len(read) else None
    for workers, name in ((1, NAMES["fg2u"]), (2, "(FG)²U on two")):
        look = LOOKS["fg2u"] if workers == 1 else SHARED
        own = rows[(rows["method"] == "fg2u") & (rows["workers"] == workers)]
        plot_ours(ax, own, x="memory", y="time", label=name, **look)
        if slowest is not None:
            its = read[read["series"] == f"efficiency fg2u gpus_{workers}"]
            its = its.assign(
                x=its["x"] / slowest["x"], value=its["value"] / slowest["value"], abs_err=0.0
            )
            plot_paper(ax, its, label=name, **look)
    for method in ("trgu", "hessian-free"):
        own = rows[rows["method"] == method]
        plot_ours(ax, own, x="memory", y="time", label=NAMES[method], **LOOKS[method])
    log_numbers(ax.xaxis)
    log_numbers(ax.yaxis)
    ax.set_title("time and memory")
    ax.set_xlabel("memory (one at a time: 1)")
    ax.set_ylabel("time (one at a time: 1)")


def _series(context: FigureContext, start: str, name: str) -> pd.DataFrame:
    rows = context.reference
    return rows[rows["series"].str.startswith(start) & (rows["y_name"] == name)]
