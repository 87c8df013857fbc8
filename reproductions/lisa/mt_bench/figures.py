"""Figures of MT-Bench: ratings by method, over all questions or by category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.declare.reference import standings
from harness.publish.figures import MARKERS, PALETTE, FigureContext, plot_ours, plot_paper
from reproductions.lisa.models.names import LABELS, NAMES
from reproductions.lisa.mt_bench.table import CATEGORIES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

METHODS = {
    "vanilla": "untuned",
    "lora": LABELS["lora"],
    "full": LABELS["full"],
    "lisa": LABELS["lisa"],
    "galore": LABELS["galore"],
}
"""GaLore last: the early version lacks it."""
SHOWN = (*(name for name in CATEGORIES if name != "coding"), "coding")
"""Coding last: the early version lacks it, and no line may cross the gap."""
RATINGS = (1, 4, 7, 10)
OURS, PAPER = PALETTE[0], PALETTE[1]


def average_panels(context: FigureContext) -> Figure:
    """Draw one panel per model: a mark per method, ours and an early version's."""
    reference = _rated(context.reference, ("model", "method"))
    figure, axes = _panels(context, reference, columns=4)
    for ax, model in zip(axes, _models(context, reference), strict=True):
        places = {method: place for place, method in enumerate(METHODS)}
        _ours(ax, _of(context.table, model), places, by="method", color=OURS, marker="o")
        paper = _at(_of(reference, model), places, by="method")
        plot_paper(ax, paper, x="place", label="", color=PAPER, marker="s")
        _finish(ax, model, list(METHODS.values()))
    ours = _mark("ours", OURS, "o")
    ours.set_linestyle("none")
    handles = [ours, *_early(reference, color=PAPER, marker="s")]
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure


def category_panels(context: FigureContext) -> Figure:
    """Draw one panel per model: categories side by side, a line per method."""
    reference = _rated(context.reference, ("model", "method", "category"))
    figure, axes = _panels(context, reference, columns=1 if context.width == "single" else 2)
    places = {category: place for place, category in enumerate(SHOWN)}
    for ax, model in zip(axes, _models(context, reference), strict=True):
        ours, paper = _of(context.table, model), _of(reference, model)
        for method, color, marker in zip(METHODS, PALETTE, MARKERS, strict=False):
            rows = ours[ours["method"] == method]
            _ours(ax, rows, places, by="category", color=color, marker=marker)
            early = _at(paper[paper["method"] == method], places, by="category")
            plot_paper(ax, early, x="place", label="", color=color, marker=marker)
        _finish(ax, model, list(SHOWN))
    styles = zip(METHODS.values(), PALETTE, MARKERS, strict=False)
    handles = [_mark(label, color, marker) for label, color, marker in styles]
    handles += _early(reference, color=PALETTE[6], marker="o")
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def _rated(reference: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return the reference rows that are ratings, with the words of their series as columns."""
    rows = reference[reference["y_name"] == "mean_rating"]
    words = rows["series"].str.split(" ")
    return rows.assign(**{name: words.str[index] for index, name in enumerate(names)})


def _models(context: FigureContext, reference: pd.DataFrame) -> list[str]:
    shown = {*context.table["model"], *reference["model"]}
    return [model for model in NAMES if model in shown]


def _panels(
    context: FigureContext, reference: pd.DataFrame, *, columns: int
) -> tuple[Figure, list[Axes]]:
    count = len(_models(context, reference))
    columns = min(columns, count)
    rows = -(-count // columns)
    figure, axes = context.subplots(rows, columns, aspect=1.3 if columns > 2 else 0.75)
    for unused in axes[count:]:
        unused.remove()
    return figure, axes[:count]


def _of(rows: pd.DataFrame, model: str) -> pd.DataFrame:
    return rows[rows["model"] == model]


def _at(rows: pd.DataFrame, places: Mapping[str, int], *, by: str) -> pd.DataFrame:
    return rows.assign(place=rows[by].map(places).astype("float64"))


def _ours(
    ax: Axes, rows: pd.DataFrame, places: Mapping[str, int], *, by: str, color: str, marker: str
) -> None:
    placed = _at(rows, places, by=by)
    plot_ours(
        ax, placed, x="place", y="mean_rating", label="", color=color, marker=marker,
        style="none" if by == "method" else "-",
    )  # fmt: skip
    if rows.empty or rows["mean_rating"].notna().any():
        return
    ax.text(0.5, 0.5, "nobody rated", transform=ax.transAxes, ha="center", color="#666666")


def _finish(ax: Axes, model: str, labels: Sequence[str]) -> None:
    ax.set_title(NAMES[model])
    ax.set_xticks(range(len(labels)), labels, rotation=60, ha="right")
    ax.set_xlim(-0.5, len(labels) - 0.5)
    ax.set_yticks(RATINGS)
    ax.set_ylim(RATINGS[0] - 0.5, RATINGS[-1] + 0.5)
    ax.set_ylabel("mean rating")


def _mark(label: str, color: str, marker: str) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=color, marker=marker, label=label)


def _early(reference: pd.DataFrame, *, color: str, marker: str) -> list[Line2D]:
    """Return the mark of the reference rows, where there are any."""
    if reference.empty:
        return []
    mark = _mark(f"hollow: {standings(reference['status'])}", color, marker)
    mark.set_linestyle("--")
    mark.set_markerfacecolor("white")
    return [mark]
