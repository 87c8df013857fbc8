"""What several studies draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from harness.publish.figures import PALETTE, FigureContext

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def end_points(
    context: FigureContext,
    groups: Sequence[tuple[str, pd.DataFrame]],
    *,
    value: str,
    label: str,
) -> Figure:
    """Draw every run's value as a dot, and the mean of each configuration as a bar."""
    figure, (ax,) = context.subplots(aspect=0.5)
    for place, (_, rows) in enumerate(groups):
        numbers = rows[value].dropna().astype(float)
        color = PALETTE[place % len(PALETTE)]
        ax.plot([place - 0.25, place + 0.25], [numbers.mean()] * 2, color=color, lw=2.0)
        ax.plot([place] * len(numbers), numbers, ls="", marker="o", color=color, ms=4)
    ax.set_xticks(range(len(groups)), [name for name, _ in groups])
    ax.set_ylabel(label)
    return figure


def legend_above(figure: Figure, axes: Sequence[Axes], *, columns: int) -> None:
    """Draw one legend for all panels, each label once."""
    found: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    figure.legend([*found.values()], [*found], loc="outside upper center", ncols=columns)
