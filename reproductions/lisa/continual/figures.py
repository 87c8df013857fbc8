"""Figures of continual pre-training: accuracy by gamma, and beside the memory of a step."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.declare.statistics import aggregate
from harness.publish.figures import PALETTE, FigureContext, plot_ours
from reproductions.lisa.continual.table import METHOD
from reproductions.lisa.models.names import NAMES
from reproductions.lisa.models.shapes import shape_of

FULL, LISA = PALETTE[1], PALETTE[0]
MARKERS = "os^Dv"
HOW = {"count": "counted", "arithmetic": "by arithmetic"}


def accuracy_by_gamma(context: FigureContext) -> Figure:
    """Draw a dot per seed, a line through LISA's means, and full training's level."""
    figure, (ax,) = context.subplots(aspect=0.55)
    rows = _solved(context.table)
    lisa = rows[rows["method"] == "lisa"]
    _level(ax, rows[rows["method"] == "full"])
    means = aggregate(lisa, by=["gamma"], value="accuracy").sort_values("gamma")
    ax.plot(means["gamma"], means["mean"], color=LISA, marker="o", label="LISA")
    _seeds(ax, lisa["gamma"], lisa["accuracy"], LISA)
    ax.set_xticks(sorted(lisa["gamma"].unique()))
    ax.set_xlabel(r"$\gamma$, blocks that train at once")
    ax.set_ylabel("test problems solved")
    ax.legend()
    return figure


def memory_and_accuracy(context: FigureContext) -> Figure:
    """Draw LISA's memory as a share of full training's, and accuracy against that share."""
    columns = 1 if context.width == "single" else 2
    figure, (left, right) = context.subplots(2 // columns, columns, aspect=0.75)
    table = context.table
    steps = _shares(table[table["part"] == "step"])
    names = list(steps["model"].unique())
    for place, name in enumerate(names):
        rows = steps[(steps["model"] == name) & (steps["method"] == "lisa")]
        blocks = rows["gamma"] / shape_of(name).num_blocks
        marker, color = MARKERS[place], PALETTE[place]
        label = f"{NAMES[name]}, {HOW[rows['how'].iloc[0]]}"
        left.plot(blocks, rows["share"], marker=marker, color=color, label=label)
    left.axhline(1.0, color="0.5", linewidth=0.8, linestyle=":")
    left.set_ylim(0.0, 1.08)
    left.set_xlabel("share of blocks that train at once")
    left.set_ylabel("memory, full training = 1")
    left.legend()
    _accuracy_by_share(right, _solved(table[table["part"] == "run"]), steps)
    return figure


def _accuracy_by_share(ax: Axes, runs: pd.DataFrame, steps: pd.DataFrame) -> None:
    both = runs.merge(steps[[*METHOD, "share"]], on=METHOD, suffixes=("_of_run", ""))
    for (method, gamma), rows in both.groupby(["method", "gamma"], sort=True):
        share = float(rows["share"].iloc[0])
        color, marker = (FULL, "s") if method == "full" else (LISA, "o")
        mean = float(rows["accuracy"].mean())
        ax.plot([share], [mean], color=color, marker=marker, markersize=4.5, linestyle="none")
        _seeds(ax, [share] * len(rows), rows["accuracy"], color)
        word = "full" if method == "full" else f"{gamma}"
        ax.annotate(word, (share, mean), textcoords="offset points", xytext=(6, 5))
    ax.set_xlabel("memory, full training = 1")
    ax.set_ylabel("test problems solved")
    ax.set_title("full training, and LISA by blocks")
    ax.margins(x=0.12)


def _level(ax: Axes, full: pd.DataFrame) -> None:
    level = aggregate(full, by=["method"], value="accuracy").iloc[0]
    mean, error = float(level["mean"]), float(level["sem"])
    ax.axhline(mean, color=FULL, linestyle="--", label="full training")
    ax.axhspan(mean - error, mean + error, color=FULL, alpha=0.15, linewidth=0.0)


def _seeds(ax: Axes, x: object, y: object, color: str) -> None:
    ax.plot(x, y, color=color, marker="o", markersize=2.5, linestyle="none", alpha=0.6)  # type: ignore[arg-type]


def _solved(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs; what diverged has solved nothing."""
    return runs.assign(accuracy=runs["accuracy"].astype("float64").fillna(0.0))


def _shares(steps: pd.DataFrame) -> pd.DataFrame:
    """Return steps with their memory as a share of full training's on the same model."""
    full = steps[steps["method"] == "full"].set_index("model")["total_bytes"]
    share = steps["total_bytes"].astype("float64") / steps["model"].map(full).astype("float64")
    return steps.assign(share=share)


def rates(context: FigureContext) -> Figure:
    """Draw validation problems solved against the learning rate, one line per method."""
    figure, (ax,) = context.subplots(aspect=0.6)
    for number, ((method, gamma), rows) in enumerate(context.table.groupby(["method", "gamma"])):
        plot_ours(
            ax, rows, x="lr", y="validation_accuracy", color=PALETTE[number],
            marker=MARKERS[number], label=rf"LISA, $\gamma$ = {gamma}" if gamma else str(method),
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xlabel("learning rate")
    ax.set_ylabel("validation problems solved")
    ax.legend()
    return figure
