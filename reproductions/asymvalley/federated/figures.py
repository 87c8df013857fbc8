"""Figure of Table 1: dots of six algorithms, grouped by alpha."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from harness.declare.statistics import aggregate
from harness.publish.figures import MARKERS, PALETTE, FigureContext

VALUES = {"test_accuracy": "test accuracy", "same_sign_ratio": "same-sign ratio"}
SPREAD = 0.11
"""Distance of neighbouring dots, where groups are 1 apart."""


def accuracy_panels(
    context: FigureContext, *, datasets: Mapping[str, str], names: Mapping[str, str]
) -> Figure:
    """Draw one column per data set: accuracy above, same-sign ratio below (one set: beside it).

    datasets, names: labels of data sets and algorithms by their words in the table, in order.
    """
    finals = context.table[context.table["part"] == "final"]
    shown = [dataset for dataset in datasets if (finals["dataset"] == dataset).any()]
    # One data set alone has its two panels side by side.
    shape = (len(VALUES), len(shown)) if len(shown) > 1 else (1, len(VALUES))
    figure, axes = context.subplots(*shape, aspect=0.7)
    panels = [(value, dataset) for value in VALUES for dataset in shown]
    common = set()
    for ax, (value, dataset) in zip(axes, panels, strict=True):
        common |= _dots(ax, finals[finals["dataset"] == dataset], value, names)
        if value == "test_accuracy" or len(shown) == 1:
            ax.set_title(datasets[dataset])
        ax.set_ylabel(VALUES[value])
    _legend(figure, names, common=common)
    return figure


def _dots(ax: Axes, rows: pd.DataFrame, value: str, names: Mapping[str, str]) -> set[int]:
    """Draw means over seeds; open, over the seeds that all algorithms have, if some have fewer.

    Return how many they have in common, nothing where none has more.
    """
    alphas = sorted(rows["alpha"].unique(), reverse=True)
    common = set(rows.loc[rows["common"], "seed"])
    unequal = not rows["common"].all()
    for index, algorithm in enumerate(names):
        own = rows[rows["algorithm"] == algorithm]
        shift = (index - (len(names) - 1) / 2) * SPREAD
        for part in [own] if own["common"].all() else [own, own[own["common"]]]:
            points = aggregate(part, by=["alpha"], value=value).dropna(subset=["mean"])
            is_open = unequal and bool(part["common"].all())
            ax.errorbar(
                [alphas.index(alpha) + shift for alpha in points["alpha"]],
                points["mean"].to_numpy(dtype="float64"),
                yerr=None if is_open else points["sem"].to_numpy(dtype="float64"),
                color=PALETTE[index],
                marker=MARKERS[index],
                markerfacecolor="none" if is_open else PALETTE[index],
                linestyle="none",
                elinewidth=0.8,
            )
    ax.set_xticks(range(len(alphas)), [f"{alpha:g}" for alpha in alphas])
    ax.set_xlim(-0.5, len(alphas) - 0.5)
    ax.set_xlabel("Dirichlet alpha (right: clients less alike)")
    ax.grid(axis="x", visible=False)
    return {len(common)} if unequal else set()


def _legend(figure: Figure, names: Mapping[str, str], *, common: set[int]) -> None:
    handles = [
        Line2D([], [], color=PALETTE[i], marker=MARKERS[i], linestyle="none", label=label)
        for i, label in enumerate(names.values())
    ]
    title = (
        "open: over the seeds that all have"
        f" ({' or '.join(map(str, sorted(common)))}); filled: over all that an algorithm has;"
        " compare open marks with open ones"
    )
    figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=len(handles),
        title=title if common else None,
    )
