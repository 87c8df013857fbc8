"""Figures of layerwise norms: one panel per model, and how far the largest layer stands out."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.publish.figures import PALETTE, FigureContext, log_numbers, plot_ours, plot_paper
from reproductions.lisa.models.figures import legend_above
from reproductions.lisa.models.names import NAMES
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.norms.experiment import (
    EMBEDDING,
    HEAD,
    MEAN,
    POSITIONS,
    START,
    block_name,
    places_of,
)
from reproductions.lisa.norms.quantities import FULL, LORA, RUN, skew


@dataclass(frozen=True, slots=True)
class Series:
    """A quantity of a method at a time, as it is drawn in every panel."""

    method: str
    when: str
    column: str
    label: str
    color: str
    marker: str
    line: str = "-"


ADAPTERS = Series(LORA, MEAN, "adapter_norm", "LoRA: adapters A and B", PALETTE[0], "o")
AS_DRAWN = Series(
    LORA, START, "adapter_norm", "LoRA: adapters, untrained", PALETTE[6], "P", line="none"
)
FULL_WEIGHTS = Series(FULL, MEAN, "weight_norm", "full: weights", PALETTE[1], "s")
TRAINED = (
    ADAPTERS,
    Series(LORA, MEAN, "change_norm", "LoRA: update s B A", PALETTE[2], "^"),
    Series(LORA, MEAN, "weight_norm", "LoRA: merged weights", PALETTE[3], "D"),
    FULL_WEIGHTS,
    Series(FULL, MEAN, "change_norm", "full: change since start", PALETTE[4], "v"),
)
CLOSED_FORM = "initialiser of adapters, closed form"


def norm_panels(context: FigureContext) -> Figure:
    """Draw a panel per model, and one with the largest over the median layer where one trained."""
    table = context.table[context.table["chosen"].astype(bool)]
    trained = list(table.loc[table["lr"] > 0.0, "model"].unique())
    drawn = [model for model in table["model"].unique() if model not in trained]
    count = len(drawn) + 2 * len(trained)
    columns = 1 if context.width == "single" else min(count, 2)
    figure, axes = context.subplots(-(-count // columns), columns, aspect=0.3 + 0.25 * columns)
    for ax, model in zip(axes, [*drawn, *trained], strict=False):
        rows = table[table["model"] == model]
        _closed_form(ax, rows, model)
        _paper(ax, context.reference, model)
        for series in TRAINED if model in trained else (AS_DRAWN,):
            _ours(ax, rows, series)
        _axis(ax, model)
        ax.set_title(NAMES[model] if model in trained else f"{NAMES[model]}, untrained")
    num_profiles = len(drawn) + len(trained)
    for ax, model in zip(axes[num_profiles:count], trained, strict=True):
        _skews(ax, table[table["model"] == model])
    for ax in axes[count:]:
        ax.remove()
    legend_above(
        figure, axes[:num_profiles], columns=1 if context.width == "single" else columns + 1
    )
    return figure


def _closed_form(ax: Axes, rows: pd.DataFrame, model: str) -> None:
    """Draw what adapters have as drawn; blocks that were not built are like the first.

    A tied head is the embedding, as the paper shows it.
    """
    own = rows[rows["method"] == LORA].groupby("layer")["drawn_norm"].first()
    shape = shape_of(model)
    names = {block_name(number): block_name(0) for number in range(shape.num_blocks)}
    names |= {HEAD: EMBEDDING} if HEAD not in own.index else {}
    points = {
        place: float(own.loc[names.get(layer, layer)]) for layer, place in places_of(shape).items()
    }
    ax.plot(
        list(points), list(points.values()), color=PALETTE[6], lw=4.0, alpha=0.3,
        solid_capstyle="round", label=CLOSED_FORM,
    )  # fmt: skip


def _ours(ax: Axes, rows: pd.DataFrame, series: Series) -> None:
    own = rows[(rows["method"] == series.method) & (rows["when"] == series.when)]
    plot_ours(
        ax, own, x="place", y=series.column, label=series.label, color=series.color,
        marker=series.marker, style=series.line,
    )  # fmt: skip


def _paper(ax: Axes, reference: pd.DataFrame, model: str) -> None:
    for series, label in ((ADAPTERS, "LoRA"), (FULL_WEIGHTS, "full")):
        rows = reference[reference["series"] == f"{model} {series.method}"]
        plot_paper(
            ax, rows, label=f"{label} in Figure 2", color=series.color, marker=series.marker
        )  # fmt: skip


def _axis(ax: Axes, model: str) -> None:
    places = places_of(shape_of(model))
    middle = shape_of(model).num_blocks // 2
    ticks = {EMBEDDING: "E", POSITIONS: "P", block_name(middle - 1): f"block {middle}", HEAD: "H"}
    shown = {places[layer]: text for layer, text in ticks.items() if layer in places}
    ax.set_xticks(list(shown), list(shown.values()))
    log_numbers(ax.yaxis)
    ax.set_xlabel("layer")
    ax.set_ylabel("L2 norm")


def _skews(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw, for each quantity, the largest norm of a layer over the layers' median."""
    for place, series in enumerate(TRAINED):
        own = rows[(rows["method"] == series.method) & (rows["when"] == series.when)]
        runs = own.groupby(RUN)[series.column].agg(skew).dropna().reset_index()
        plot_ours(
            ax, runs.assign(place=place), x=series.column, y="place", orient="y", label="",
            color=series.color, marker=series.marker, style="",
        )  # fmt: skip
    ax.set_yticks(range(len(TRAINED)), [series.label for series in TRAINED])
    ax.set_ylim(len(TRAINED) - 0.5, -0.5)
    ax.axvline(1.0, color=PALETTE[6], lw=0.6)
    ax.set_xlim(left=0.0)
    ax.set_xlabel("largest layer over the median")
    ax.set_title("skew over layers")
