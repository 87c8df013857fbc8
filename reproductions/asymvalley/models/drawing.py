"""How curves are drawn: lines are means over draws and seeds, bands reach to their extremes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import seaborn
from matplotlib import rcParams
from matplotlib.lines import Line2D

from harness.publish.figures import PALETTE, sequential
from reproductions.asymvalley.models.pairs import SCALES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES = ("-", "--")
"""Of two lines in one panel: colours alone are one grey in print."""
S_LOOKS: tuple[dict[str, Any], ...] = (
    {"marker": "."},
    {"style": "--", "marker": "."},
    {"width": 2.2},
)
"""By s: what lies on the largest one is seen, and points show how fine lambda's steps are."""
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


def two_lines(ax: Axes, parts: Mapping[str, pd.DataFrame], *, y: str = "error") -> None:
    """Draw a value over lambda, a line for each of two parts of a table, by their names."""
    for color, style, (label, rows) in zip(PALETTE, STYLES, parts.items(), strict=False):
        line(ax, rows, x="lambda", y=y, color=color, style=style, label=label)
    lambda_axis(ax)


def name_rows(
    figure: Figure, axes: Sequence[Axes], labels: Sequence[str], *, title: str | None = None
) -> None:
    """Give each row of valleys one range and a label, and name the lines above all of them."""
    count = len(axes) // len(labels)
    for row, label in enumerate(labels):
        across = axes[count * row : count * (row + 1)]
        share_heights(across)
        across[0].set_ylabel(label)
    for ax in axes[-count:]:
        ax.set_xlabel(r"$\lambda$")
    named = axes[0].get_legend_handles_labels()
    figure.legend(*named, loc="outside upper center", ncols=2, title=title)


def share_heights(axes: Sequence[Axes]) -> None:
    """Give panels one range of values, from zero."""
    top = max(ax.get_ylim()[1] for ax in axes)
    for ax in axes:
        ax.set_ylim(0.0, top)


def s_lines(ax: Axes, rows: pd.DataFrame, *, x: str) -> None:
    """Draw the error over lambda, a line per s, the largest one first."""
    for s, color, look in reversed(_s_looks()):
        line(ax, where(rows, s=s), x=x, y="error", color=color, **look)
    lambda_axis(ax)


def s_legend(figure: Figure, *extra: Line2D) -> None:
    """Name the lines that `s_lines` drew, and others."""
    handles = []
    for s, color, look in _s_looks():
        handle = Line2D([], [], color=color, label=f"$s = {s:g}$", marker=look.get("marker", ""))
        handle.set(linestyle=look.get("style", "-"))
        handle.set_linewidth(look.get("width", 1.0) * handle.get_linewidth())
        handles.append(handle)
    figure.legend(handles=[*handles, *extra], loc="outside upper center", ncols=4)


def _s_looks() -> list[tuple[float, str, dict[str, Any]]]:
    return list(zip(SCALES, sequential(len(SCALES)), S_LOOKS, strict=True))
