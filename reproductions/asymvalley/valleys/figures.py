"""Figures of valley curves: lines are means over draws and seeds, bands reach to their extremes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matplotlib.lines import Line2D

from harness.declare import pick
from harness.publish.figures import MARKERS, PALETTE, FigureContext, points
from reproductions.asymvalley.method.directions import (
    DIRECTIONS,
    NOISE_GROUPS,
    NOISES,
    VALUE_LABELS,
)
from reproductions.asymvalley.models.curves import AT_ZERO
from reproductions.asymvalley.models.drawing import (
    ROWS,
    STYLES,
    lambda_axis,
    line,
    s_colors,
    s_legend,
    s_lines,
    share_heights,
    where,
)
from reproductions.asymvalley.models.names import GROUP_LABELS, NOISE_LABELS
from reproductions.asymvalley.models.pairs import Pair

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DIRECTION_LABELS = dict(
    zip(
        DIRECTIONS,
        (
            r"$\theta_0$",
            r"$\theta_f$",
            r"sign($\theta_f$)",
            r"sign($\theta_f-\mu$)",
            r"sgp($\theta_f$)",
            r"sgp($\theta_f-\mu$)",
        ),
        strict=True,
    )
)


def noise_panels(context: FigureContext) -> Figure:
    """Draw test error against lambda: kinds of noise as columns, raw and sign-consistent rows."""
    panels = [(row, kind) for row in ROWS for kind in NOISES]
    figure, axes = _grid(
        context, len(NOISES), rows=[f"{name}\ntest error" for name in ROWS.values()]
    )
    colors = s_colors(context.table["s"])
    for ax, (row, kind) in zip(axes, panels, strict=True):
        rows = where(context.table, noise=kind, sign_consistent=row)
        s_lines(ax, rows, colors, x="lambda")
        _note_consistency(ax, rows)
        if context.width == "single":
            ax.set_title(f"{NOISE_LABELS[kind]}, {'signs agree' if row else 'raw'}")
        elif not row:
            ax.set_title(NOISE_LABELS[kind])
    share_heights(axes)
    if context.width == "double":
        _name_first(axes, per_row=len(NOISES))
    _leave_room(axes)
    s_legend(figure, colors)
    return figure


def direction_panels(context: FigureContext, *, pair: str, twin: str = "") -> Figure:
    """Draw test error against lambda along six special directions, one panel each.

    twin: a second net, drawn dashed and dotted at s = 1 where the table has it.
    """
    figure, axes = context.subplots(2, 3, aspect=0.72, sharex=True, sharey=True)
    table = pick(context.table, pair=pair)
    colors = s_colors(table["s"])
    for ax, direction in zip(axes, DIRECTIONS, strict=True):
        rows = where(table, direction=direction)
        s_lines(ax, rows, colors, x="lambda")
        _note_consistency(ax, rows)
        other = where(context.table, pair=twin, direction=direction, s=1.0)
        line(ax, other, x="lambda", y="error", color=PALETTE[1], style="-.")
        lambda_axis(ax)
        ax.set_title(DIRECTION_LABELS[direction])
    for ax in axes[-3:]:
        ax.set_xlabel(r"$\lambda$")
    for ax in axes[::3]:
        ax.set_ylabel("test error")
    _leave_room(axes)
    extra = [Line2D([], [], color=PALETTE[1], linestyle="-.", label="without BN, $s = 1$")]
    s_legend(figure, colors, extra if twin else [])
    return figure


def ratio_panels(context: FigureContext, *, titles: Mapping[Pair, str]) -> Figure:
    """Draw the mean error of both sides against the sign-change ratio, one panel per net."""
    aspect = 0.72 if context.width == "double" else 1.1
    figure, axes = context.subplots(1, len(titles), aspect=aspect)
    for ax, (pair, title) in zip(axes, titles.items(), strict=True):
        halves = _halves(context.table, pair)
        for color, marker, (name, rows) in zip(PALETTE, MARKERS, halves, strict=False):
            means = rows.groupby(["seed", "draw", "ratio"])["error"].mean().reset_index()
            line(ax, means, x="ratio", y="error", color=color, label=name, marker=marker)
        ax.set(title=title, xlabel="sign-change ratio")
        ax.set_ylim(bottom=0.0)
    axes[0].set_ylabel("mean test error")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def group_panels(context: FigureContext) -> Figure:
    """Draw error and cross-entropy against lambda: groups as columns, raw and sign as colours."""
    count = len(NOISE_GROUPS)
    panels = [(value, group) for value in VALUE_LABELS for group in NOISE_GROUPS]
    figure, axes = _grid(context, count, rows=list(VALUE_LABELS.values()))
    for ax, (value, group) in zip(axes, panels, strict=True):
        for color, style, (row, name) in zip(PALETTE, STYLES, ROWS.items(), strict=False):
            rows = where(context.table, group=group, sign_consistent=row)
            line(ax, rows, x="lambda", y=value, color=color, style=style, label=name)
        if context.width == "single":
            ax.set_title(f"{GROUP_LABELS[group]}, {'error' if value == 'error' else 'CE'}")
        elif value == "error":
            ax.set_title(GROUP_LABELS[group])
    for row_of_axes in (axes[:count], axes[count:]):
        share_heights(row_of_axes)
        if context.width == "double":
            _name_first(row_of_axes, per_row=count)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def _grid(
    context: FigureContext, columns: int, *, rows: Sequence[str]
) -> tuple[Figure, list[Axes]]:
    """Return narrow panels over lambda; at single width rows flow, so each panel names its own."""
    wide = context.width == "double"
    figure, axes = context.subplots(len(rows), columns, aspect=1.5 if wide else 0.7, sharex=True)
    for ax in axes:
        lambda_axis(ax)
        ax.tick_params(pad=1.5)
    for ax, label in zip(axes[::columns], rows, strict=True):
        # Where panels name their row, the axis says what is drawn.
        ax.set_ylabel(label if wide else label.splitlines()[-1])
    for ax in axes[-columns:]:
        ax.set_xlabel(r"$\lambda$")
    return figure, axes


def _halves(table: pd.DataFrame, pair: str) -> list[tuple[str, pd.DataFrame]]:
    """Return the rows of a net's positive and negative side, with their symbols."""
    rows = where(table, pair=pair)
    return [
        (r"$E_+$, mean over $\lambda > 0$", rows[rows["lambda"] > AT_ZERO]),
        (r"$E_-$, mean over $\lambda < 0$", rows[rows["lambda"] < -AT_ZERO]),
    ]


def _note_consistency(ax: Axes, rows: pd.DataFrame) -> None:
    """Write the mean sign consistency at the top, where valleys are low."""
    if not rows.empty:
        share = f"{float(rows['sign_consistency'].mean()):.2f}"
        ax.text(
            0.5, 0.97, share, transform=ax.transAxes, ha="center", va="top", fontsize=points(6.0)
        )


def _leave_room(axes: Sequence[Axes]) -> None:
    """Raise the top of panels with one range, so that no curve crosses their note."""
    low, high = axes[0].get_ylim()
    for ax in axes:
        ax.set_ylim(low, high + 0.15 * (high - low))


def _name_first(axes: Sequence[Axes], *, per_row: int) -> None:
    """Leave the ticks of values to the first panel of a row."""
    for index, ax in enumerate(axes):
        if index % per_row:
            ax.tick_params(labelleft=False)
