"""How curves are drawn: lines are means over draws and seeds, bands reach to their extremes."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from harness.declare.profiles import Profile
from harness.declare.statistics import aggregate
from harness.publish.labels import Labels
from reproductions.asymvalley.models.pairs import Pair, Recipe, stands_in, training_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes

ROWS = {False: "raw", True: "sign-consistent"}


def named_here(
    text: str, profile: Profile, pair: Pair, *, recipe: Recipe = "base", width: int = 44
) -> str:
    """Return a text with what a profile runs in the place of each name, in lines of a width."""
    here = stands_in(training_of(profile, pair, seed=0, recipe=recipe))
    return textwrap.fill(Labels(here).names(text), width)


def where(table: pd.DataFrame, **wanted: object) -> pd.DataFrame:
    """Return the rows whose columns have these values; none of a net that diverged.

    `pick` where the figure is nothing without them.
    """
    for column, value in wanted.items():
        table = table[table[column] == value]
    return table


def line(
    ax: Axes,
    rows: pd.DataFrame,
    *,
    x: str,
    y: str,
    color: str,
    style: str = "-",
    label: str = "",
    marker: str = "",
) -> None:
    """Draw a mean and a band to its least and largest; points without a value are left out."""
    rows = rows.dropna(subset=[y])
    if rows.empty:
        return
    points = aggregate(rows, by=[x], value=y).sort_values(x)
    places = points[x].to_numpy(dtype="float64")
    means = points["mean"].to_numpy(dtype="float64")
    ax.plot(places, means, color=color, linestyle=style, label=label, marker=marker)
    spread = rows.groupby(x, sort=True)[y].agg(["min", "max"])
    ax.fill_between(
        spread.index.to_numpy(dtype="float64"),
        spread["min"].to_numpy(dtype="float64"),
        spread["max"].to_numpy(dtype="float64"),
        color=color,
        alpha=0.2,
        linewidth=0.0,
    )


def lambda_axis(ax: Axes) -> None:
    """Give a panel the axis of all valleys: lambda from -1 to 1."""
    ax.set_xticks((-1.0, 0.0, 1.0), labels=("-1", "0", "1"))
    ax.set_xlim(-1.05, 1.05)


def share_heights(axes: Sequence[Axes]) -> None:
    """Give panels one range of values, from zero."""
    top = max(ax.get_ylim()[1] for ax in axes)
    for ax in axes:
        ax.set_ylim(0.0, top)
