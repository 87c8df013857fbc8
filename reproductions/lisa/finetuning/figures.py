"""Figures of the fine-tuning runs: curves over steps, and what runs came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.figure import Figure

from harness.publish.figures import MARKERS, PALETTE, FigureContext, plot_ours
from reproductions.lisa.finetuning.experiment import SETTINGS, WINDOW
from reproductions.lisa.models.figures import end_points, legend_above, rate_lines
from reproductions.lisa.models.names import QUALITY, TITLES
from reproductions.lisa.models.stand_ins import FIGURE_6

HELD_OUT = "held-out loss (nats per token)"
METHODS = {
    "full": "full", "lora": "LoRA", "lora_ends": "LoRA and E+H", "galore": "GaLore",
    "cyclic": "BAdam", "usual": "LISA", "blocks_0": "E+H alone",
}  # fmt: skip
"""Settings that stand for methods, in the order of legends."""

Lines = Mapping[str, "pd.DataFrame"]
"""Rows by the label of a line, in the order of colours and marks; there may be none."""


def by_method(table: pd.DataFrame) -> Lines:
    """Return one line per method."""
    return {label: table[table["setting"] == name] for name, label in METHODS.items()}


def by_column(table: pd.DataFrame, column: str, label: str) -> Lines:
    """Return one line per value of a column, over LISA's rows."""
    rows = table[table["method"] == "lisa"]
    return {f"{label} {value}": found for value, found in rows.groupby(column)}


def by_model(context: FigureContext) -> Figure:
    """Draw a panel per model, named after Figure 6's that it stands for, and a line per method."""
    table, names = context.table, [*FIGURE_6]
    models = sorted(table["model"].unique(), key=lambda m: names.index(m) if m in names else -1)
    panels = [
        (FIGURE_6.get(model, FIGURE_6[QUALITY]), by_method(table[table["model"] == model]))
        for model in models
    ]
    return curve_panels(context, panels, split="train")


def method_curves(context: FigureContext, *, split: str) -> Figure:
    """Draw the loss on LLaMA-2-7B, or on what stands for it, one line per method."""
    return curve_panels(context, [(TITLES["llama-2-7b"], by_method(context.table))], split=split)


def lisa_curves(context: FigureContext, *, column: str, label: str, title: str) -> Figure:
    """Draw LISA's training loss, one line per value of a column."""
    return curve_panels(context, [(title, by_column(context.table, column, label))], split="train")


def ends_by_setting(context: FigureContext) -> Figure:
    """Draw the held-out loss of the runs of each setting."""
    runs = {
        head_of(str(name)).replace(", ", ",\n"): rows
        for name, rows in context.table.groupby("setting", sort=False)
    }
    return end_points(context, runs, value="test_loss", label=HELD_OUT)


def head_of(name: str) -> str:
    """Return a setting as figures call it where several things vary."""
    if name == "usual":
        return "gamma = 2, K = 13"
    return METHODS.get(name, SETTINGS[name].head)


def rates(context: FigureContext, *, value: str, split: str) -> Figure:
    """Draw the in-house model's loss against the learning rate, one line per setting."""
    table = context.table[context.table["model"] == context.table["model"].iloc[0]]
    lines = {head_of(str(name)): rows for name, rows in table.groupby("setting", sort=False)}
    return rate_lines(context, lines, value=value, split=split, columns=3)


def method_rates(context: FigureContext) -> Figure:
    """Draw the validation loss against the learning rate, one line per method."""
    table = context.table[context.table["model"] == context.table["model"].iloc[0]]
    lines = by_method(table)
    return rate_lines(context, lines, value="validation_loss", split="validation", columns=4)


def staged_rates(context: FigureContext) -> Figure:
    """Draw the loss against the learning rate, one line per model and method."""
    lines = {
        f"{FIGURE_6[str(model)]}, {METHODS[str(name)]}": rows
        for (model, name), rows in context.table.groupby(["model", "setting"], sort=False)
    }
    return rate_lines(context, lines, value="validation_loss", split="validation", columns=3)


def curve_panels(
    context: FigureContext, panels: Sequence[tuple[str, Lines]], *, split: str
) -> Figure:
    """Draw losses over steps: every value of `test`, means over 13 steps of `train`."""
    figure, axes = context.subplots(1, len(panels), aspect=0.55 if len(panels) == 1 else 0.8)
    for ax, (title, lines) in zip(axes, panels, strict=True):
        for number, (label, own) in enumerate(lines.items()):
            if own.empty:
                continue
            rows = own if split == "test" else _averaged(own)
            # Where only start and end were measured, nothing is known of the way between.
            style = "-" if rows["step"].nunique() > 2 else "none"
            plot_ours(
                ax, rows, x="step", y="loss", label=label, color=PALETTE[number],
                marker=MARKERS[number], style=style,
            )  # fmt: skip
        ax.set_title(title)
        ax.set_xlabel("optimizer step")
    axes[0].set_ylabel(f"{'held-out' if split == 'test' else 'training'} loss (nats per token)")
    legend_above(figure, axes, columns=drawn(panels[0][1]))
    return figure


def drawn(lines: Lines) -> int:
    """Return how many columns a legend has: as many as there are lines, and five at most."""
    return min(5, sum(len(rows) > 0 for rows in lines.values()))


def _averaged(rows: pd.DataFrame) -> pd.DataFrame:
    """Return training losses as means over 13 steps, at the last of them.

    Counted from the end, so that the last mean is what the claims take; a rest is left out.
    """
    end = int(rows["step"].max())
    back = (end - rows["step"]) // WINDOW
    whole = back < end // WINDOW
    keys = ["seed", "layer_seed", "step"]
    placed = rows.assign(step=end - back * WINDOW)[whole]
    return placed.groupby(keys, as_index=False)[["loss"]].mean()
