"""Figures of what ranks did and when: a bar per event, a line per rank."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.publish.figures import HATCHES, PALETTE, FigureContext, points
from reproductions.paro.traces.experiment import DRAWN

SCOPES = {"intra": "within groups", "inter": "between groups", "world": "of all ranks"}
COLORS = dict(zip(SCOPES, PALETTE, strict=False))
UPDATE_COLOR, PASS_COLORS = "#333333", {"forward": "#cccccc", "backward": "#999999"}
LANE = 0.4
"""Height of a bar; a rank has two, above each other."""


def bars(
    ax: Axes, rows: pd.DataFrame, *, lane: int, color: str, label: str,
    ends: tuple[str, str] = ("start_ms", "end_ms"), hatch: str = "",
) -> None:  # fmt: skip
    """Draw a bar for each row in its rank's upper (0) or lower (1) lane."""
    if len(rows):
        start, end = (rows[name] for name in ends)
        ax.barh(
            rows["rank"] + (lane - 0.5) * LANE, end - start, left=start, height=0.9 * LANE,
            color=color, label=label, edgecolor="white", linewidth=0.2, hatch=hatch,
        )  # fmt: skip


def lines_of_ranks(ax: Axes, table: pd.DataFrame) -> None:
    """Name the lines, rank 0 on top."""
    ranks = range(int(table["num_ranks"].iloc[0]))
    size = int(table["group_size"].iloc[0])
    ax.set_yticks(ranks, [f"rank {rank}, group {rank // size}" for rank in ranks])
    ax.invert_yaxis()
    ax.grid(visible=False, axis="y")


def step_tracks(context: FigureContext) -> Figure:
    """Draw a panel per strategy: communication, and below it computation, of each rank."""
    figure, axes = context.subplots(
        len(DRAWN), 1, aspect=0.33 if context.width == "double" else 0.7
    )
    for ax, strategy in zip(axes, DRAWN, strict=True):
        rows = context.table[context.table["strategy"] == strategy]
        for work, color in PASS_COLORS.items():
            # What lies in a longer pass, a unit within all, is drawn over it.
            bars(ax, rows[rows["done"] == work], lane=1, color=color, label=work)
        for (scope, words), hatch in zip(SCOPES.items(), HATCHES, strict=False):
            own = rows[rows["done"].str.endswith(f" {scope}")]
            bars(ax, own, lane=0, color=COLORS[scope], label=words, hatch=hatch)
        bars(ax, rows[rows["done"] == "update"], lane=0, color=UPDATE_COLOR, label="update")
        lines_of_ranks(ax, rows)
        ax.set_xlabel("ms")
        ax.set_title(strategy)
    context.legend_above(figure, axes, 3)
    return figure


def gather_tracks(context: FigureContext) -> Figure:
    """Draw messages by stage: between groups above, within a group below, with part and target."""
    table = context.table
    most = table[table["num_ranks"] == table["num_ranks"].max()]
    rows = most[most["group_size"] == most["group_size"].min()].copy()
    figure, (ax,) = context.subplots(1, 1, aspect=0.4 if context.width == "double" else 0.8)
    same = rows.groupby(["rank", "groups_come", "scope"])["place"]
    share = 1.0 / same.transform("count")
    rows["start"] = 1 + rows["groups_come"] + share * (same.rank() - 1)
    rows["end"] = rows["start"] + 0.97 * share
    for lane, (scope, side) in enumerate({"inter": "above", "intra": "below"}.items()):
        own, label = rows[rows["scope"] == scope], f"{SCOPES[scope]}, {side}"
        bars(ax, own, lane=lane, color=COLORS[scope], label=label, ends=("start", "end"))
        for row in own.itertuples():
            ax.annotate(
                f"part {row.part} to rank {row.to}",
                ((row.start + row.end) / 2, row.rank + (lane - 0.5) * LANE),
                ha="center", va="center", color="white", fontsize=points(6),
            )  # fmt: skip
    lines_of_ranks(ax, rows)
    stages = range(int(rows["groups_come"].max()) + 1)
    ax.set_xticks([stage + 1.5 for stage in stages], [f"stage {stage + 1}" for stage in stages])
    ax.grid(visible=False)
    context.legend_above(figure, [ax], 2)
    return figure
