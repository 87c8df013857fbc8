"""Figure of Table 1: accuracies of every cell that was run, and the condensed images themselves."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.publish.figures import PALETTE, FigureContext, plot_ours
from reproductions.fg2u.image_sets.layouts import DATASETS, METHOD_NAMES
from reproductions.fg2u.image_sets.table import ACCURACY, SHOWN

HEADS = {"noise": "noise", "real": "real images", **METHOD_NAMES}
LEVELS = 15
"""The hexadecimal digit of white."""
GAP = 1
"""White pixels between images."""


def set_panels(context: FigureContext) -> Figure:
    """Draw a panel of accuracies per cell, and below it a panel of images."""
    table = context.table[context.table["part"] == ACCURACY]
    cells = list(table.loc[table["ipc"] > 0, ["dataset", "ipc"]].drop_duplicates().values)
    figure, axes = context.subplots(2, len(cells), aspect=0.8)
    for (dataset, ipc), above, below in zip(
        cells, axes[: len(cells)], axes[len(cells) :], strict=True
    ):
        own = table[(table["dataset"] == dataset) & (table["ipc"] == ipc)]
        title = f"{DATASETS[dataset]}, {ipc} per class"
        paper = context.reference
        paper = paper[(paper["y_name"] == "test_accuracy") & (paper["x"] == ipc)]
        _accuracies(above, own, {m: f"{dataset} {m}" for m in METHOD_NAMES}, paper)
        above.set_title(title)
        _images(below, own)
        below.set_title("" if context.width == "double" else title)
    context.legend_above(figure, axes[:1], 2)
    return figure


def _accuracies(ax: Axes, rows: pd.DataFrame, series: dict[str, str], paper: pd.DataFrame) -> None:
    """Draw our means with their standard error, and the paper's numbers, a line per method."""
    known = paper.set_index("series")["value"]
    shown = [name for name in HEADS if name in {*rows["name"]} or series.get(name) in known.index]
    for place, name in enumerate(shown):
        own = rows[rows["name"] == name]
        plot_ours(
            ax, own.assign(percent=100 * own["test_accuracy"], place=place), x="percent", y="place",
            orient="y", label="" if place else "ours", color=PALETTE[0], style="",
        )  # fmt: skip
        if series.get(name) in known.index:
            ax.plot(
                known[series[name]], place, color=PALETTE[1], marker="s",
                markerfacecolor="white", linestyle="none",
                label="paper" if name == "trgu" else None,
            )  # fmt: skip
    ax.set_yticks(range(len(shown)), [HEADS[name] for name in shown])
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set_xlabel("test accuracy (%)")


def _images(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw the first seed's images, a line per method and a column per class."""
    kept = rows.dropna(subset=["pixels"])
    by_name = {str(row["name"]): row for row in kept.to_dict("records")}
    shown = [name for name in SHOWN if name in by_name]
    if not shown:
        ax.remove()
        return
    size = int(kept["image_size"].iloc[0])
    lines = [strip_of(str(by_name[name]["pixels"]), size) for name in shown]
    ax.imshow(
        np.concatenate(lines), cmap="gray", vmin=0.0, vmax=1.0, interpolation="none", aspect="auto"
    )
    ax.set_yticks(_middles(len(shown), size + GAP), [HEADS[name] for name in shown])
    count = lines[0].shape[1] // (size + GAP)
    ax.set_xticks(_middles(count, size + GAP), [str(place) for place in range(count)])
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.set_xlabel("class")


def _middles(count: int, size: int) -> list[float]:
    """Return the middles of pieces of so many pixels."""
    return [size * (place + 0.5) - 0.5 for place in range(count)]


def strip_of(text: str, size: int) -> np.ndarray:
    """Return images from their words, side by side, each with white to its right and below.

    >>> strip_of("0ff0 f00f", 2)[:2]
    array([[0., 1., 1., 1., 0., 1.],
           [1., 0., 1., 0., 1., 1.]])
    """
    images = []
    for word in text.split():
        planes = np.array([int(digit, 16) for digit in word]).reshape(-1, size, size) / LEVELS
        image = planes[0] if len(planes) == 1 else planes.transpose(1, 2, 0)
        framed = np.ones((size + GAP, size + GAP, *image.shape[2:]))
        framed[:size, :size] = image
        images.append(framed)
    return np.concatenate(images, axis=1)
