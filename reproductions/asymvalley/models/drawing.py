"""How curves are drawn: lines are means over draws and seeds, bands reach to their extremes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import seaborn
from matplotlib import rcParams
from matplotlib.lines import Line2D

from harness.publish.figures import sequential

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES = ("-", "--")
"""Of two lines in one panel: colours alone are one grey in print."""
S_LOOKS: tuple[dict[str, Any], ...] = (
    {"width": 2.2},
    {"style": "--", "marker": "."},
    {"marker": "."},
)
"""Of the largest s first: what lies on it is seen, and points show how fine lambda's steps are."""
ROWS = {False: "raw", True: "sign-consistent"}


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
    width: float = 1.0,
) -> None:
    """Draw a mean and a band to its least and largest; points without a value are left out.

    width: of the line, where 1 is that of all lines.
    """
    rows = rows.dropna(subset=[y])
    if rows.empty:
        return
    seaborn.lineplot(
        # Columns without names, which would become those of the axes.
        x=rows[x].to_numpy(dtype="float64"), y=rows[y].to_numpy(dtype="float64"), ax=ax,
        errorbar=("pi", 100), err_kws={"linewidth": 0.0}, color=color, linestyle=style, label=label,
        marker=marker, markeredgecolor=color, linewidth=width * rcParams["lines.linewidth"],
        legend=False,
    )  # fmt: skip


def lambda_axis(ax: Axes) -> None:
    """Give a panel the axis of all valleys: lambda from -1 to 1."""
    ax.set_xticks((-1.0, 0.0, 1.0), labels=("-1", "0", "1"))
    ax.set_xlim(-1.05, 1.05)


def share_heights(axes: Sequence[Axes]) -> None:
    """Give panels one range of values, from zero."""
    top = max(ax.get_ylim()[1] for ax in axes)
    for ax in axes:
        ax.set_ylim(0.0, top)


def s_colors(widths: pd.Series[float]) -> dict[float, str]:
    """Return a colour for each s."""
    found = sorted(float(s) for s in widths.unique())
    return dict(zip(found, sequential(len(found)), strict=True))


def s_lines(ax: Axes, rows: pd.DataFrame, colors: Mapping[float, str], *, x: str) -> None:
    """Draw the error over lambda, a line per s."""
    for (s, color), look in zip(reversed([*colors.items()]), S_LOOKS[-len(colors) :], strict=True):
        line(ax, where(rows, s=s), x=x, y="error", color=color, **look)


def s_legend(figure: Figure, colors: Mapping[float, str], extra: Sequence[Line2D] = ()) -> None:
    """Name the lines that `s_lines` drew, and others."""
    handles = list(extra)
    for (s, color), look in zip(reversed([*colors.items()]), S_LOOKS[-len(colors) :], strict=True):
        handle = Line2D([], [], color=color, label=f"$s = {s:g}$", marker=look.get("marker", ""))
        handle.set(linestyle=look.get("style", "-"))
        handle.set_linewidth(look.get("width", 1.0) * handle.get_linewidth())
        handles.insert(0, handle)
    figure.legend(handles=handles, loc="outside upper center", ncols=max(len(handles), 1))
