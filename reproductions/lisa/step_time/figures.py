"""Figure 4: stacked bars of one step's phases, warm and cold, beside the paper's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from harness.declare.reference import standings
from harness.declare.statistics import aggregate
from harness.publish.figures import HATCHES, PALETTE, FigureContext, points
from reproductions.lisa.models.figures import legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PHASES = {
    "forward": "forward",
    "backward": "backward",
    "optimizer": "optimizer",
    "backward_and_optimizer": "backward with optimizer",
}
PAPER_NAMES = {"full": "Baseline", "lora": "LoRA", "lisa": "LISA"}
"""Its LoRA has dropout."""
HEIGHT = 0.38
"""Height of a bar; ours above the paper's."""
ROOM = 1.45
"""Room for the times in ms that stand at the right."""


def time_panels(context: FigureContext) -> Figure:
    """Draw warm steps in one panel, and the first ones of fresh processes, if any, in another."""
    beside = context.width == "double"
    panels = {False: "warm", True: "cold, by the host"}
    panels = {
        cold: title for cold, title in panels.items() if (context.table["cold"] == cold).any()
    }
    shape = (1, len(panels)) if beside else (len(panels), 1)
    figure, axes = context.subplots(*shape, aspect=0.75)
    for ax, (cold, title) in zip(axes, panels.items(), strict=True):
        rows = context.table[context.table["cold"] == cold]
        names = _names(rows)
        unit_ms = float(_total(rows, {"method": "full"})["mean"])
        for place, name in enumerate(names):
            _bar(ax, rows[_name_of(rows) == name], place, unit_ms)
        _paper_bars(ax, rows, names, context.reference)
        _arithmetic(ax, rows, names)
        ax.set_yticks(range(len(names)), names)
        ax.invert_yaxis()
        ax.set_xlim(0.0, ROOM * ax.get_xlim()[1])
        ax.grid(axis="y", visible=False)
        ax.set_title(title)
        ax.set_xlabel("time of a step (full training = 1)")
    legend_above(figure, axes, columns=3 if beside else 2)
    return figure


def _name_of(rows: pd.DataFrame) -> pd.Series[str]:
    """Return each row's method, as a bar's label."""
    dropout = rows["dropout"].map(lambda share: f"dropout {share:g}" if share else "no dropout")
    lora = "LoRA, " + dropout
    lisa = "LISA, " + rows["gamma"].astype(str) + " blocks"
    names = pd.Series("full", index=rows.index)
    return names.mask(rows["method"] == "lora", lora).mask(rows["method"] == "lisa", lisa)


def _names(rows: pd.DataFrame) -> list[str]:
    """Return the bars from top to bottom: full training, LoRA with and without dropout, LISA."""
    order = rows.assign(name=_name_of(rows), place=rows["method"].map(list(PAPER_NAMES).index))
    order = order.sort_values(["place", "dropout"], ascending=[True, False], kind="stable")
    return list(order["name"].unique())


def _total(rows: pd.DataFrame, chosen: dict[str, str]) -> pd.Series[float]:
    for column, value in {**chosen, "phase": "total"}.items():
        rows = rows[rows[column] == value]
    return aggregate(rows, by=["phase"], value="median_ms").iloc[0]


def _bar(ax: Axes, rows: pd.DataFrame, place: int, unit_ms: float) -> None:
    """Draw one method's phases, the standard error of their sum, and its arithmetic."""
    means = aggregate(rows, by=["phase"], value="median_ms").set_index("phase")["mean"]
    left = 0.0
    for color, hatch, (phase, label) in zip(PALETTE, HATCHES, PHASES.items(), strict=False):
        if phase in means:
            width = float(means[phase]) / unit_ms
            ax.barh(
                place - HEIGHT / 2, width, left=left, height=HEIGHT, color=color, hatch=hatch,
                label=label,
            )  # fmt: skip
            left += width
    total = _total(rows, {})
    error = float(total["sem"]) / unit_ms
    ax.errorbar(
        left, place - HEIGHT / 2, xerr=error or None, color=PALETTE[6], ls="none", elinewidth=0.8
    )
    ax.text(
        0.99, place - HEIGHT / 2, f"{float(total['mean']):,.0f} ms",
        transform=ax.get_yaxis_transform(), ha="right", va="center", fontsize=points(6.0),
    )  # fmt: skip


def _paper_bars(ax: Axes, rows: pd.DataFrame, names: list[str], reference: pd.DataFrame) -> None:
    """Draw outlines of the paper's two phases, which are relative to its own full training."""
    read = reference[reference["y_name"].isin(["forward", "backward", "total"])]
    if read.empty:
        return
    values = read.set_index(["series", "y_name"])["value"]
    unit = values["Baseline", "total"]
    label = f"LLaMA-2-7B ({standings(read['status'])})"
    first = rows.assign(name=_name_of(rows)).drop_duplicates("name").set_index("name")
    for place, name in enumerate(names):
        method = first.loc[name]
        if method["method"] == "lora" and not method["dropout"]:
            continue
        left = 0.0
        for phase in ("forward", "backward"):
            width = values[PAPER_NAMES[str(method["method"])], phase] / unit
            ax.barh(
                place + HEIGHT / 2, width, left=left, height=0.8 * HEIGHT, fill=False, ls="--",
                edgecolor=PALETTE[6], label=label,
            )  # fmt: skip
            left += width


def _arithmetic(ax: Axes, rows: pd.DataFrame, names: list[str]) -> None:
    """Mark how many operations a method's matrix products take, full training's being 1."""
    counted = rows[rows["phase"] == "total"].dropna(subset=["flops"])
    if counted.empty:
        return
    flops = counted.assign(name=_name_of(counted)).groupby("name")["flops"].first()
    unit = float(flops[names[0]])
    ax.plot(
        [float(flops[name]) / unit for name in names],
        [place - HEIGHT / 2 for place in range(len(names))],
        marker="D", mfc="white", mec=PALETTE[6], ls="none", label="counted operations",
    )  # fmt: skip
