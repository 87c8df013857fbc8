"""Figure 28: hidden units that are on or off before and after a step along the signs."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.publish.figures import HATCHES, PALETTE, FigureContext
from reproductions.asymvalley.activations.experiment import SHARES
from reproductions.asymvalley.models.drawing import lambda_axis, line

STATES = dict(
    zip(SHARES, ("on, stays on", "on, goes off", "off, goes on", "off, stays off"), strict=True)
)
SHOWN = (-1.0, -0.4, 0.4, 1.0)
"""Places whose matrices are drawn."""


def activation_panels(context: FigureContext) -> Figure:
    """Draw agreement and stacked shares against lambda; below, the matrices at a few lambdas."""
    figure, axes = context.subplots(2, len(SHOWN), aspect=0.95, turn=False)
    agreement_ax = _joined(figure, axes[0], axes[1])
    stack_ax = _joined(figure, axes[2], axes[3])
    line(agreement_ax, context.table, x="lambda", y="agreement", color=PALETTE[0], marker="o")
    agreement_ax.set(title="units in the same state", ylabel="agreement")
    means = context.table.groupby("lambda")[list(SHARES)].mean().sort_index()
    areas = stack_ax.stackplot(
        means.index.to_numpy(dtype="float64"),
        *(means[share].to_numpy(dtype="float64") for share in SHARES),
        labels=list(STATES.values()),
        colors=(PALETTE[0], PALETTE[1], PALETTE[4], PALETTE[5]),
        alpha=0.85,
    )
    for area, hatch in zip(areas, HATCHES, strict=False):
        area.set_hatch(hatch)
    stack_ax.set(title="shares of units, stacked", ylabel="share", ylim=(0.0, 1.0))
    for ax in (agreement_ax, stack_ax):
        lambda_axis(ax)
        ax.set_xlabel(r"$\lambda$")
    for ax, place in zip(axes[len(SHOWN) :], SHOWN, strict=True):
        _matrix(ax, means, place)
    axes[len(SHOWN)].set_ylabel("trained net")
    context.legend_above(figure, [stack_ax], 4, narrow=2)
    return figure


def _joined(figure: Figure, left: Axes, right: Axes) -> Axes:
    """Put one panel in the place of two neighbours."""
    first, last = left.get_subplotspec(), right.get_subplotspec()
    assert first is not None and last is not None
    place = first.get_gridspec()[first.num1 : last.num1 + 1]
    left.remove()
    right.remove()
    return figure.add_subplot(place)


def _matrix(ax: Axes, means: pd.DataFrame, place: float) -> None:
    """Draw the four mean shares at one lambda as a matrix, with their numbers."""
    ax.grid(visible=False)
    ax.set_title(rf"$\lambda = {place:g}$")
    ax.set_xticks((0.5, 1.5), labels=("on", "off"))
    ax.set_yticks((0.5, 1.5), labels=("on", "off"))
    ax.set_xlabel("noisy net")
    ax.set_aspect("equal")
    near = means[abs(means.index.to_numpy(dtype="float64") - place) < 1e-9]
    if near.empty:
        return
    shares = near.iloc[0][list(SHARES)].to_numpy(dtype="float64").reshape(2, 2)
    ax.pcolormesh(shares, cmap="Blues", vmin=0.0, vmax=1.0)
    ax.set_ylim(2.0, 0.0)
    for row in range(2):
        for column in range(2):
            share = shares[row, column]
            ax.text(
                column + 0.5,
                row + 0.5,
                f"{share:.2f}",
                color="white" if share > 0.55 else "black",
                ha="center",
                va="center",
            )
