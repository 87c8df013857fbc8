"""Panels of accuracy against density: Table 2 and its substitute."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from harness.publish.figures import FigureContext, plot_ours, plot_paper
from reproductions.supar.models.drawing import COLORS, MARKS, density_axis
from reproductions.supar.models.schemes import LABELS, SCHEMES


def accuracy_panels(context: FigureContext, *, tasks: Mapping[str, str]) -> Figure:
    """Draw one panel per task, named as in `tasks`; the paper's values, if any, are hollow."""
    paper = context.reference[context.reference["x_name"] == "density"]
    if paper.empty:  # then a task that was not run has nothing to show
        run = {*context.table.dropna(subset=["accuracy"])["task"]}
        tasks = {task: name for task, name in tasks.items() if task in run}
    figure, axes = context.subplots(1, len(tasks), aspect=1.5 if len(tasks) > 2 else 0.75)
    lowest = float(np.nanmin([context.table["density"].min(), paper["x"].min()]))
    for ax, (task, name) in zip(axes, tasks.items(), strict=True):
        ax.set_title(name)
        _panel(ax, context.table[context.table["task"] == task])
        for scheme in SCHEMES:
            rows = paper[paper["series"] == f"{scheme} {name}"]
            plot_paper(ax, rows, label=LABELS[scheme], color=COLORS[scheme], marker=MARKS[scheme])
        density_axis(ax)
        ax.set_xlim(lowest / 1.3, 1.3)
        ax.xaxis.set_minor_locator(NullLocator())
    axes[0].set_ylabel("accuracy")
    context.legend_above(figure, axes, 4)
    return figure


def _panel(ax: Axes, rows: pd.DataFrame) -> None:
    for scheme in SCHEMES:
        ours = rows[rows["scheme"] == scheme]
        plot_ours(
            ax,
            ours,
            x="density",
            y="accuracy",
            label=f"{LABELS[scheme]}, ours",
            color=COLORS[scheme],
            marker=MARKS[scheme],
        )
    low, high = ax.get_ylim()
    if low == -high:  # nothing but zeros: no share is less
        ax.set_ylim(high / -20, high)
    guesses = rows.loc[rows["scheme"] == "random", "accuracy"].dropna()
    if guesses.empty:
        ax.set_title(f"{ax.get_title()}, not run")
    else:
        ax.axhline(float(guesses.mean()), color="#333333", linestyle=":", label="guessing")
