"""Figures of valley curves: lines are means over draws and seeds, bands reach to their extremes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from harness.declare import pick
from harness.publish.figures import MARKERS, PALETTE, FigureContext, points
from reproductions.asymvalley.method.directions import (
    DIRECTIONS,
    GROUP_LABELS,
    NOISE_GROUPS,
    NOISE_LABELS,
    NOISES,
    VALUE_LABELS,
)
from reproductions.asymvalley.models.curves import AT_ZERO
from reproductions.asymvalley.models.drawing import (
    ROWS,
    line,
    name_rows,
    s_legend,
    s_lines,
    two_lines,
    where,
)
from reproductions.asymvalley.models.pairs import Pair

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
    """Draw test error against lambda, a panel per kind of noise, raw and sign-consistent.

    The raw ones are above, the paper's columns in two blocks where there is room for four.
    """
    per_row = 4 if context.width == "double" else len(NOISES)
    blocks = [kinds for kinds in (NOISES[:per_row], NOISES[per_row:]) if kinds]
    panels = [(row, kind) for kinds in blocks for row in ROWS for kind in kinds]
    figure, axes = context.subplots(
        len(ROWS) * len(blocks), per_row, aspect=0.7, sharex=True, sharey=True,
        skip=(11, 15) if len(blocks) > 1 else (),
    )  # fmt: skip
    for ax, (row, kind) in zip(axes, panels, strict=True):
        rows = where(context.table, noise=kind, sign_consistent=row)
        s_lines(ax, rows, x="lambda")
        _note_consistency(ax, rows)
        ax.set_title(f"{NOISE_LABELS[kind]}, {'signs agree' if row else 'raw'}")
        if row and kind in NOISES[-per_row:]:
            ax.set_xlabel(r"$\lambda$")
        if kind in (NOISES[0], NOISES[per_row % len(NOISES)]):
            ax.set_ylabel("test error")
    axes[0].set_ylim(bottom=0.0)
    _leave_room(axes)
    s_legend(figure)
    return figure


def direction_panels(context: FigureContext, *, pair: str, twin: Pair | None = None) -> Figure:
    """Draw test error against lambda along six special directions, one panel each.

    twin: a second net, drawn dashed and dotted at s = 1 where the table has it.
    """
    figure, axes = context.subplots(2, 3, aspect=0.72, sharex=True, sharey=True, turn=False)
    table = pick(context.table, pair=pair)
    for ax, direction in zip(axes, DIRECTIONS, strict=True):
        rows = where(table, direction=direction)
        s_lines(ax, rows, x="lambda")
        _note_consistency(ax, rows)
        other = where(context.table, pair=twin, direction=direction, s=1.0)
        line(ax, other, x="lambda", y="error", color=PALETTE[1], style="-.")
        ax.set_title(DIRECTION_LABELS[direction])
    for ax in axes[-3:]:
        ax.set_xlabel(r"$\lambda$")
    for ax in axes[::3]:
        ax.set_ylabel("test error")
    _leave_room(axes)
    without = Line2D([], [], color=PALETTE[1], linestyle="-.", label="without BN, $s = 1$")
    s_legend(figure, *([without] if twin else []))
    return figure


def ratio_panels(context: FigureContext, *, titles: Mapping[Pair, str]) -> Figure:
    """Draw the mean error of both sides against the sign-change ratio, one panel per net."""
    aspect = 0.72 if context.width == "double" else 1.1
    figure, axes = context.subplots(1, len(titles), aspect=aspect)
    for ax, (pair, title) in zip(axes, titles.items(), strict=True):
        rows = where(context.table, pair=pair)
        halves = {
            r"$E_+$, mean over $\lambda > 0$": rows[rows["lambda"] > AT_ZERO],
            r"$E_-$, mean over $\lambda < 0$": rows[rows["lambda"] < -AT_ZERO],
        }
        for color, marker, (name, half) in zip(PALETTE, MARKERS, halves.items(), strict=False):
            means = half.groupby(["seed", "draw", "ratio"])["error"].mean().reset_index()
            line(ax, means, x="ratio", y="error", color=color, label=name, marker=marker)
        ax.set(title=title, xlabel="sign-change ratio", xticks=(0.0, 0.5, 1.0))
        ax.set_ylim(bottom=0.0)
    axes[0].set_ylabel("mean test error")
    context.legend_above(figure, axes[:1], 2)
    return figure


def group_panels(context: FigureContext) -> Figure:
    """Draw error and cross-entropy against lambda: groups as columns, raw and sign as colours."""
    count, wide = len(NOISE_GROUPS), context.width == "double"
    panels = [(value, group) for value in VALUE_LABELS for group in NOISE_GROUPS]
    figure, axes = context.subplots(
        len(VALUE_LABELS), count, aspect=1.5 if wide else 0.7, sharex=True
    )
    for ax, (value, group) in zip(axes, panels, strict=True):
        rows = where(context.table, group=group)
        parts = {name: where(rows, sign_consistent=row) for row, name in ROWS.items()}
        two_lines(ax, parts, y=value)
        if not wide:
            ax.set_title(f"{GROUP_LABELS[group]}, {'error' if value == 'error' else 'CE'}")
        elif value == "error":
            ax.set_title(GROUP_LABELS[group])
        if wide and group != NOISE_GROUPS[0]:
            ax.tick_params(labelleft=False)
    name_rows(figure, axes, list(VALUE_LABELS.values()))
    return figure


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
