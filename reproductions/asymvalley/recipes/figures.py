"""Figures of recipes: valleys after each, and the line between two.

Points are means over seeds, bars reach to their extremes.
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.declare import pick
from harness.publish.figures import MARKERS, PALETTE, FigureContext, log_numbers, plot_ours
from reproductions.asymvalley.method.directions import PARTITION
from reproductions.asymvalley.models.drawing import (
    ROWS,
    line,
    name_rows,
    two_lines,
    where,
)
from reproductions.asymvalley.recipes.experiment import FIRST_AND_SECOND, Contrast

PART_LABELS = ("BN weight", "CLF weight", "CLF bias", "other weight", "other bias")
"""In the order of PARTITION."""
STATISTIC_TITLES = {"mean": "mean", "std": "standard deviation", "consistency": "sign consistency"}
SETTINGS = {
    "learning rate": ("lr_high", "lr_low"),
    "batch size": ("bs_large", "bs_small"),
    "weight decay": ("wd_high", "wd_low"),
}
"""Figure 9's columns: the recipe above the base, and that below."""


def recipe_panels(context: FigureContext) -> Figure:
    """Draw test error against lambda: settings as columns, raw and sign-consistent as rows."""
    figure, axes = context.subplots(2, len(SETTINGS), aspect=0.72, sharex=True, sharey=True)
    panels = [(row, setting) for row in ROWS for setting in SETTINGS]
    for index, (ax, (row, setting)) in enumerate(zip(axes, panels, strict=True)):
        rows = where(context.table, sign_consistent=row)
        sides = zip(("higher", "lower"), SETTINGS[setting], strict=True)
        two_lines(ax, {f"{side} than the base": where(rows, recipe=name) for side, name in sides})
        if context.width == "single":
            ax.set_title(f"{setting}, {ROWS[row]}")
        elif index < len(SETTINGS):
            ax.set_title(setting)
    wide = context.width == "double"
    name_rows(
        figure, axes, [f"{row}\ntest error" if wide else "test error" for row in ROWS.values()]
    )
    return figure


def recipe_line_panels(context: FigureContext, *, contrast: Contrast) -> Figure:
    """Draw mean and spread of parameter groups, the line, and the sign consistencies."""
    figure, axes = context.subplots(2, 2, aspect=0.56)
    both = zip(("first", "second"), FIRST_AND_SECOND[contrast], strict=True)
    names = {place: f"{place}: {name}" for place, name in both}
    mean_ax, std_ax, line_ax, consistency_ax = axes
    for ax, value in zip((mean_ax, std_ax, consistency_ax), STATISTIC_TITLES, strict=True):
        _group_marks(ax, context, value, names)
        ax.set_title(STATISTIC_TITLES[value])
    log_numbers(std_ax.yaxis)  # groups differ by orders of magnitude
    consistency_ax.axhline(0.5, color="#999999", linewidth=0.6, linestyle=":")
    consistency_ax.set_ylim(0.0, 1.05)
    line(line_ax, pick(context.table, part="line"), x="x", y="error", color=PALETTE[6])
    # The nets at both ends, with their marks.
    for place, color, marker in zip((0.0, 1.0), PALETTE, MARKERS, strict=False):
        line_ax.axvline(place, color=color, linewidth=1.0, linestyle=":")
        line_ax.plot([place], [0.0], color=color, marker=marker, clip_on=False)
    line_ax.set(title="line through both", xlabel="$l$", ylabel="test error", xticks=range(-1, 3))
    line_ax.set_ylim(bottom=0.0)
    context.legend_above(figure, [mean_ax], 2)
    return figure


def _group_marks(ax: Axes, context: FigureContext, value: str, names: dict[str, str]) -> None:
    """Draw one statistic by parameter group, a mark per net, bars to the extremes."""
    for index, (solution, name) in enumerate(names.items()):
        rows = pick(context.table, part="group", solution=solution)
        rows = rows[rows["group"].isin(list(PARTITION))]
        places = [PARTITION.index(group) + 0.24 * index - 0.12 for group in rows["group"]]
        plot_ours(
            ax, rows.assign(place=places), x="place", y=value, label=name, color=PALETTE[index],
            marker=MARKERS[index], style="", errorbar=("pi", 100),
        )  # fmt: skip
    # Side by side in two lines, or turned.
    wide = context.width == "double"
    labels = [name.replace(" ", "\n") if wide else name for name in PART_LABELS]
    ax.set_xticks(range(len(PARTITION)), labels=labels)
    ax.set_xlim(-0.5, len(PARTITION) - 0.5)
