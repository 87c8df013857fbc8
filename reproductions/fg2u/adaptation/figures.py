"""Figures of online adaptation: scores by method, by depth of the unroll, and by base."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.publish.figures import MARKERS, PALETTE, FigureContext, plot_ours, plot_paper
from reproductions.fg2u.adaptation.claims import READERS
from reproductions.fg2u.adaptation.experiment import NAMES
from reproductions.fg2u.adaptation.table import (
    EQUAL,
    FG2U,
    LONGER,
    OTHER_KL,
    RGU,
)

ENTRIES = (EQUAL, RGU, OTHER_KL, LONGER, FG2U)
SCORES = {"f1": "F1 of the answers", "qa_loss_after": "loss, nats per token"}
BASES = {"small": "smaller base", "large": "larger base"}
APART = 0.4
"""Documents by which the two lines of a panel stand aside, so that neither hides the other."""


def entry_panels(context: FigureContext) -> Figure:
    """Draw each method's F1 and loss, per stream."""
    datasets = [name for name in NAMES if name in set(context.table["dataset"])]
    figure, axes = context.subplots(max(1, len(datasets)), 2, aspect=0.66)
    for row, dataset in enumerate(datasets):
        table = context.table[context.table["dataset"] == dataset]
        for (column, name), ax in zip(SCORES.items(), axes[2 * row :], strict=False):
            for place, (model, reader) in enumerate(READERS.items()):
                own = table[table["eval_model"] == model]
                _dots(ax, own, column, f"read by {reader}", place)
            ax.set(xlabel=name, title=NAMES[dataset])
            ax.locator_params(axis="x", nbins=4)
            ax.set_yticks(range(len(ENTRIES)), [entry.replace("2U", "²U") for entry in ENTRIES])
            ax.set_ylim(len(ENTRIES) - 0.5, -0.5)
            # The names stand to the left of the row.
            ax.tick_params(labelleft=ax is axes[2 * row])
    context.legend_above(figure, axes, 2)
    return figure


def _dots(ax: Axes, table: pd.DataFrame, column: str, label: str, place: int) -> None:
    rows = table[table["entry"].isin(ENTRIES)]
    heights = [ENTRIES.index(entry) + 0.16 * (2 * place - 1) for entry in rows["entry"]]
    plot_ours(
        ax, rows.assign(height=heights), x=column, y="height", orient="y", label=label, style="",
        color=PALETTE[place], marker=MARKERS[place],
    )  # fmt: skip


def depth_panels(context: FigureContext) -> Figure:
    """Draw scores against depth per base, with the RGU result that they start from."""
    return _by_depth(context, _bases(context.table, "(FG)²U, ", also=(RGU,)))


def base_panels(context: FigureContext) -> Figure:
    """Draw scores against depth per base."""
    return _by_depth(context, _bases(context.table, ""))


def _bases(
    table: pd.DataFrame, start: str, *, also: tuple[str, ...] = ()
) -> dict[str, pd.DataFrame]:
    """Return (FG)2U's rows by the base that it unrolled, and some entries with each."""
    return {
        f"{start}{name}": table[
            ((table["method"] == "fg2u") & (table["meta_base_model"] == size))
            | table["entry"].isin(also)
        ]
        for size, name in BASES.items()
    }


def unroll_panels(context: FigureContext) -> Figure:
    """Draw scores against depth at equal steps: exact gradients, and (FG)2U."""
    rows = context.table[context.table["unroll"] != "none"]
    exact = rows["method"] == "rgu"
    return _by_depth(
        context,
        {"exact (RGU)": rows[exact], "(FG)²U": rows[~exact | (rows["unroll"] == "rgu 6")]},
    )


def _by_depth(context: FigureContext, lines: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw scores against depth, a row of panels per stream and model that reads."""
    there = {dataset for rows in lines.values() for dataset in rows["dataset"]}
    places = [(dataset, model) for dataset in NAMES if dataset in there for model in READERS]
    figure, axes = context.subplots(max(1, len(places)), 2, aspect=0.66)
    for row, (dataset, model) in enumerate(places):
        own = {
            label: rows[(rows["dataset"] == dataset) & (rows["eval_model"] == model)]
            for label, rows in lines.items()
        }
        depths = sorted({depth for rows in own.values() for depth in rows["depth"]})
        for (column, score), ax in zip(SCORES.items(), axes[2 * row :], strict=False):
            for number, (label, rows) in enumerate(own.items()):
                plot_ours(
                    ax, rows.assign(depth=rows["depth"] + (2 * number - 1) * APART), x="depth",
                    y=column, label=label, color=PALETTE[number], marker=MARKERS[number],
                )  # fmt: skip
            ax.set(xlabel="documents of an unroll", ylabel=score)
            ax.set_title(f"{NAMES[dataset]},\nread by {READERS[model]}")
            ax.set_xticks(depths)
        _paper_lines(context, axes[2 * row], model)
    context.legend_above(figure, axes, 2)
    return figure


def _paper_lines(context: FigureContext, ax: Axes, model: str) -> None:
    """Draw the paper's F1 by depth and base, in a share, beside ours of the same reader."""
    import pandas as pd

    rows = context.reference
    if rows.empty or "y_name" not in rows:
        return
    reader = READERS[model].lower()
    for number, base in enumerate(("distilgpt2", "gpt2")):
        series = {f"{reader} fg2u base_{base}", f"{reader} rgu base_distilgpt2"}
        own = rows[rows["series"].isin(series) & rows["y_name"].str.endswith("_f1")]
        shares = pd.to_numeric(own["value"], errors="coerce") / 100
        own = own.assign(x=pd.to_numeric(own["x"]), value=shares)
        plot_paper(
            ax, own, label=f"paper, {('smaller', 'larger')[number]} base", color=PALETTE[number]
        )
