"""Panels of accuracy by method, one per benchmark: Tables 2 and 5."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.publish.figures import MARKERS, PALETTE, FigureContext
from reproductions.lisa.models.figures import legend_above
from reproductions.lisa.models.names import IN_HOUSE, TITLES
from reproductions.lisa.models.scored import METHODS, VANILLA
from reproductions.lisa.models.stand_ins import net

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMES = {VANILLA: "vanilla", "lora": "LoRA", "galore": "GaLore", "lisa": "LISA", "full": "full"}
PANELS = {
    ("mmlu", "acc"): "MMLU",
    ("agieval", "acc"): "AGIEval",
    ("winogrande", "acc"): "WinoGrande",
    ("gsm8k", "exact_match strict-match"): "GSM8K, strict",
    ("gsm8k", "exact_match flexible-extract"): "GSM8K, flexible",
    ("pubmedqa", "acc"): "PubMedQA",
}
"""By task and metric."""
SPREAD = 0.16
"""Distance of the marks of two models at one method."""


def accuracy_panels(context: FigureContext) -> Figure:
    """Draw a panel per task and metric, a dot per model and method; guessing is dotted."""
    models = sorted(context.table["model"].unique())
    found = set(zip(context.table["task"], context.table["metric"], strict=True))
    panels = {key: title for key, title in PANELS.items() if key in found}
    figure, axes = context.subplots(1, len(panels), aspect=0.9)
    for ax, ((task, metric), title) in zip(axes, panels.items(), strict=True):
        rows = context.table[(context.table["task"] == task) & (context.table["metric"] == metric)]
        ax.set_title(title)
        for number, model in enumerate(models):
            _dots(ax, rows[rows["model"] == model], number, len(models), label=name_of(model))
        ax.axhline(rows["random_accuracy"].mean(), color="#333333", ls=":", label="guessing")
        shown = [method for method in (VANILLA, *METHODS) if (rows["method"] == method).any()]
        ax.set_xticks(_places(shown), [NAMES[method] for method in shown], rotation=45, ha="right")
        ax.set_xlim(-0.6, len(METHODS) + 0.6)
        top = max(0.1, 1.15 * ax.get_ylim()[1])
        # Room below, for dots at zero.
        ax.set_ylim(-0.04 * top, top)
        ax.grid(axis="x", visible=False)
    axes[0].set_ylabel("accuracy")
    legend_above(figure, axes, columns=4)
    return figure


def name_of(model: str) -> str:
    """Return a model of the paper by its name, ours in words."""
    return net(model) if model in IN_HOUSE else TITLES.get(model, model)


def _dots(ax: Axes, rows: pd.DataFrame, number: int, count: int, *, label: str) -> None:
    """Draw a model's mean over seeds by method, with the standard error over documents."""
    means = rows.groupby("method", sort=False)[["accuracy", "stderr"]].mean()
    shift = SPREAD * (number - (count - 1) / 2)
    ax.errorbar(
        [place + shift for place in _places(list(means.index))],
        means["accuracy"].to_numpy(),
        yerr=means["stderr"].fillna(0.0).to_numpy(),
        color=PALETTE[number],
        marker=MARKERS[number],
        ls="none",
        label=label,
    )


def _places(methods: list[str]) -> list[float]:
    order = (VANILLA, *METHODS)
    return [float(order.index(method)) for method in methods]
