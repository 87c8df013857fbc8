"""Figures of the fine-tuning runs: curves over steps, and what runs came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.publish.figures import MARKERS, PALETTE, FigureContext, plot_ours

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METHODS = {
    "full": "full", "lora": "LoRA", "galore": "GaLore", "cyclic": "BAdam", "lisa": "LISA",
}  # fmt: skip
"""In the order of legends."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line of a panel: what it is called, and which rows it shows."""

    label: str
    rows: pd.DataFrame
    style: int
    """Number of colour and mark."""


def by_method(table: pd.DataFrame) -> list[Line]:
    """Return one line a method."""
    return [
        Line(label=label, rows=table[table["method"] == method], style=number)
        for number, (method, label) in enumerate(METHODS.items())
        if (table["method"] == method).any()
    ]


def by_column(table: pd.DataFrame, column: str, label: str) -> list[Line]:
    """Return one line a value of a column, over LISA's rows."""
    rows = table[table["method"] == "lisa"]
    return [
        Line(label=f"{label} {value}", rows=rows[rows[column] == value], style=number)
        for number, value in enumerate(sorted(rows[column].unique()))
    ]


def curve_panels(
    context: FigureContext, panels: Sequence[tuple[str, Sequence[Line]]], *, split: str
) -> Figure:
    """Draw losses over steps: of `test` every value, of `train` means over 13 steps."""
    figure, axes = context.subplots(1, len(panels), aspect=0.55 if len(panels) == 1 else 0.8)
    for ax, (title, lines) in zip(axes, panels, strict=True):
        for line in lines:
            rows = line.rows if split == "test" else _averaged(line.rows)
            plot_ours(
                ax, rows, x="step", y="loss", label=line.label, color=PALETTE[line.style],
                marker=MARKERS[line.style],
            )  # fmt: skip
        ax.set_title(title)
        ax.set_xlabel("optimizer step")
    axes[0].set_ylabel(f"{'held-out' if split == 'test' else 'training'} loss (nats a token)")
    _legend(figure, axes)
    return figure


def end_points(
    context: FigureContext,
    groups: Sequence[tuple[str, pd.DataFrame]],
    *,
    value: str,
    label: str,
) -> Figure:
    """Draw of each configuration the value of every run as a dot, and their mean as a bar."""
    figure, (ax,) = context.subplots(aspect=0.5)
    for place, (_, rows) in enumerate(groups):
        numbers = rows[value].dropna().astype(float)
        color = PALETTE[place % len(PALETTE)]
        ax.plot([place - 0.25, place + 0.25], [numbers.mean()] * 2, color=color, lw=2.0)
        ax.plot([place] * len(numbers), numbers, ls="", marker="o", color=color, ms=4)
    ax.set_xticks(range(len(groups)), [name for name, _ in groups])
    ax.set_ylabel(label)
    return figure


def rate_lines(context: FigureContext, lines: Sequence[Line]) -> Figure:
    """Draw the loss at the end against the learning rate."""
    figure, (ax,) = context.subplots(aspect=0.6)
    for line in lines:
        plot_ours(
            ax, line.rows, x="lr", y="test_loss", label=line.label, color=PALETTE[line.style],
            marker=MARKERS[line.style],
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xlabel("learning rate")
    ax.set_ylabel("held-out loss (nats a token)")
    _legend(figure, [ax])
    return figure


def _averaged(rows: pd.DataFrame) -> pd.DataFrame:
    """Return training losses as means over 13 steps, at the last of them.

    Counted from the end, so that the last mean is what the claims take; a rest is left out.
    """
    from reproductions.lisa.finetuning.table import WINDOW

    end = int(rows["step"].max())
    back = (end - rows["step"]) // WINDOW
    whole = back < end // WINDOW
    keys = ["seed", "layer_seed", "step"]
    placed = rows.assign(step=end - back * WINDOW)[whole]
    return placed.groupby(keys, as_index=False)["loss"].mean()


def _legend(figure: Figure, axes: Sequence[Axes]) -> None:
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=max(1, min(len(labels), 5)))
