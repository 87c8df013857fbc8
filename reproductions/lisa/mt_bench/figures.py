"""Figures of MT-Bench: ratings by method, over all questions or by category."""

from __future__ import annotations

from typing import Literal

import pandas as pd
from matplotlib.figure import Figure

from harness.publish.figures import MARKERS, PALETTE, FigureContext, plot_ours, plot_paper
from reproductions.lisa.models.figures import legend_above
from reproductions.lisa.models.names import LABELS, NAMES
from reproductions.lisa.mt_bench.table import CATEGORIES

METHODS = {"vanilla": "untuned", **{name: LABELS[name] for name in ("lora", "full", "lisa")}}
METHODS["galore"] = LABELS["galore"]
"""GaLore last: the early version lacks it."""
SHOWN = (*(name for name in CATEGORIES if name != "coding"), "coding")
"""Coding last: the early version lacks it, and no line may cross the gap."""
RATINGS = (1, 4, 7, 10)


def rating_panels(context: FigureContext, *, by: Literal["method", "category"]) -> Figure:
    """Draw one panel per model: ours and an early version's ratings, a colour per method."""
    places = list(METHODS if by == "method" else SHOWN)
    reference = _rated(context.reference)
    there = {*context.table["model"], *reference["model"]}
    models = [model for model in NAMES if model in there]
    columns = 1 if context.width == "single" else min(2, len(models))
    figure, axes = context.subplots(-(-len(models) // columns), columns, aspect=0.75)
    for ax, model in zip(axes, models, strict=False):
        for (method, label), color, marker in zip(METHODS.items(), PALETTE, MARKERS, strict=False):
            ours, paper = (
                rows[(rows["model"] == model) & (rows["method"] == method)].assign(
                    place=lambda own: own[by].map(places.index).astype("float64")
                )
                for rows in (context.table, reference)
            )
            look = {"label": label, "color": color, "marker": marker}
            plot_ours(ax, ours, x="place", y="mean_rating", **look)
            plot_paper(ax, paper, x="place", **look)
        ax.set_title(NAMES[model])
        labels = METHODS.values() if by == "method" else SHOWN
        ax.set_xticks(range(len(places)), labels, rotation=60, ha="right")
        ax.set_yticks(RATINGS)
        ax.set(xlim=(-0.5, len(places) - 0.5), ylim=(0.5, 10.5), ylabel="mean rating")
    for ax in axes[len(models) :]:
        ax.remove()
    legend_above(figure, axes[: len(models)], columns=3)
    return figure


def _rated(reference: pd.DataFrame) -> pd.DataFrame:
    """Return the reference rows that are ratings, with the words of their series as columns."""
    rows = reference[reference["y_name"] == "mean_rating"]
    words = rows["series"].str.split(" ")
    names = ("model", "method", "category")
    return rows.assign(**{name: words.str[index] for index, name in enumerate(names)})
