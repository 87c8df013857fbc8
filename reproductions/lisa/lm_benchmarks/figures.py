"""Panels of accuracy by method, one per benchmark: Tables 2 and 5."""

from __future__ import annotations

from matplotlib.figure import Figure

from harness.publish.figures import MARKERS, PALETTE, FigureContext
from reproductions.lisa.models.figures import legend_above
from reproductions.lisa.models.names import IN_HOUSE, TITLES
from reproductions.lisa.models.scored import VANILLA
from reproductions.lisa.models.stand_ins import net

NAMES = {VANILLA: "vanilla", "lora": "LoRA", "galore": "GaLore", "lisa": "LISA", "full": "full"}
"""In the order of the axis."""
PANELS = {
    ("mmlu", "acc"): "MMLU",
    ("agieval", "acc"): "AGIEval",
    ("winogrande", "acc"): "WinoGrande",
    ("gsm8k", "exact_match strict-match"): "GSM8K, strict",
    ("gsm8k", "exact_match flexible-extract"): "GSM8K, flexible",
    ("pubmedqa", "acc"): "PubMedQA",
}
"""By task and metric."""


def accuracy_panels(context: FigureContext) -> Figure:
    """Draw a panel per task and metric, a dot per model and method; guessing is dotted."""
    models, order = sorted(context.table["model"].unique()), list(NAMES)
    found = set(zip(context.table["task"], context.table["metric"], strict=True))
    panels = {key: title for key, title in PANELS.items() if key in found}
    figure, axes = context.subplots(1, len(panels), aspect=0.9)
    for ax, ((task, metric), title) in zip(axes, panels.items(), strict=True):
        rows = context.table[(context.table["task"] == task) & (context.table["metric"] == metric)]
        ax.set_title(title)
        for model, color, marker in zip(models, PALETTE, MARKERS, strict=False):
            # The mean over seeds of the standard error over documents.
            own = rows[rows["model"] == model].groupby("method", sort=False)
            means = own[["accuracy", "stderr"]].mean()
            ax.errorbar(
                [order.index(method) for method in means.index], means["accuracy"].to_numpy(),
                yerr=means["stderr"].fillna(0.0).to_numpy(), color=color, marker=marker, ls="none",
                label=net(model) if model in IN_HOUSE else TITLES.get(model, model),
            )  # fmt: skip
        ax.axhline(rows["random_accuracy"].mean(), color="#333333", ls=":", label="guessing")
        shown = [method for method in order if (rows["method"] == method).any()]
        names = [NAMES[method] for method in shown]
        ax.set_xticks([order.index(method) for method in shown], names, rotation=45, ha="right")
        ax.set_xlim(-0.6, len(order) - 0.4)
        top = max(0.1, 1.15 * ax.get_ylim()[1])
        # Room below, for dots at zero.
        ax.set_ylim(-0.04 * top, top)
        ax.grid(axis="x", visible=False)
    axes[0].set_ylabel("accuracy")
    legend_above(figure, axes, columns=4)
    return figure
