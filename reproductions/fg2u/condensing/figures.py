"""Figure of the schedules: test accuracy along the outer steps, and at their end."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.publish.figures import MARKERS, PALETTE, FigureContext, plot_ours
from reproductions.fg2u.condensing.experiment import NUM_DIRECTIONS

DRAWN = (
    ("hessian-free", "none"),
    ("hessian-free", "hessian-free"),
    ("hessian-free", "fg2u"),
    ("fg2u", "none"),
    ("rgu", "none"),
)
"""First and second methods whose way is drawn too; of a method alone its longest run."""
WORDS = {"hessian-free": "Hessian-free", "fg2u": "(FG)²U", "rgu": "RGU", "trgu": "TRGU",
         "neumann": "Neumann"}  # fmt: skip
REST = "#777777"


def schedule_panels(context: FigureContext) -> Figure:
    """Draw the way of some schedules and the end of all."""
    columns = 1 if context.width == "single" else 2
    figure, (way, end) = context.subplots(2 // columns, columns, aspect=0.8 + 0.1 * columns)
    table = context.table
    styles: dict[str, tuple[str, str]] = {}
    for (method, second), color, marker in zip(DRAWN, PALETTE, MARKERS, strict=False):
        rows = table[(table["method"] == method) & (table["second"] == second)]
        rows = rows[rows["num_directions"].isin((0, NUM_DIRECTIONS))]
        if rows.empty:
            continue
        name = str(rows.nlargest(1, "outer_step")["schedule"].iloc[0])
        styles[name] = (color, marker)
        own = rows[rows["schedule"] == name]
        plot_ours(
            way, own, x="outer_step", y="test_accuracy", label=_told(name), color=color,
            marker=marker,
        )  # fmt: skip
    _changes(way, table)
    way.set(xlabel="outer steps", ylabel="test accuracy", title="along the outer steps")
    _ends(end, table, styles, between="\n+" if columns == 1 else " +")
    # Two columns of such names do not fit into a narrow figure.
    context.legend_above(figure, [way], 3, narrow=1)
    return figure


def _told(schedule: str) -> str:
    """Return a schedule with its methods as the paper writes them."""
    return " ".join(WORDS.get(word, word) for word in schedule.split(" "))


def _changes(ax: Axes, table: pd.DataFrame) -> None:
    """Mark where a second phase begins."""
    for step in table.loc[table["second"] != "none", "steps"].unique():
        ax.axvline(step, color=REST, linestyle=":", linewidth=0.9)


def _ends(
    ax: Axes, table: pd.DataFrame, styles: dict[str, tuple[str, str]], *, between: str
) -> None:
    """Draw each schedule's accuracy after its last outer step, the best on top."""
    last = table[table["outer_step"] == table["steps"] + table["second_steps"]]
    means = last.groupby("schedule", sort=False)["test_accuracy"].mean()
    best = list(means.sort_values(ascending=False, kind="stable").index)
    for place, schedule in enumerate(best):
        color, marker = styles.get(schedule, (REST, "o"))
        plot_ours(
            ax, last[last["schedule"] == schedule].assign(place=place), x="test_accuracy",
            y="place", orient="y", label="", color=color, marker=marker, style="",
        )  # fmt: skip
    ax.set_yticks(range(len(best)), [_told(name).replace(" +", between) for name in best])
    ax.set_ylim(len(best) - 0.5, -0.5)
    ax.set(xlabel="test accuracy", title="after the last outer step")
