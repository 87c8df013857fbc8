"""Times by implementation, and each of them over its floor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.statistics import aggregate
from harness.publish.figures import MARKERS, PALETTE, FigureContext

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def time_panels(context: FigureContext) -> Figure:
    """Draw bars of times by case, and all times over their floors."""
    rows = context.table.dropna(subset=["median_us"])
    beside = context.width == "double"
    figure, (bars, roof) = context.subplots(*((1, 2) if beside else (2, 1)), aspect=0.9)
    names = list(dict.fromkeys(rows["implementation"]))
    _bars(bars, rows, names)
    _over_floor(roof, rows, names)
    handles, labels = bars.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3 if beside else 2)
    return figure


def _bars(ax: Axes, rows: pd.DataFrame, names: list[str]) -> None:
    labels = rows["case"] + ", " + rows["precision"]
    places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    height = 0.8 / len(names)
    for number, name in enumerate(names):
        own = rows[rows["implementation"] == name].assign(label=labels)
        found = {
            column: aggregate(own, by=["label"], value=column).set_index("label")["mean"]
            for column in ("median_us", "p20_us", "p80_us")
        }
        middle = found["median_us"]
        ax.barh(
            [places[label] + (number - (len(names) - 1) / 2) * height for label in middle.index],
            middle, height=height, color=PALETTE[number], label=name,
            xerr=[(middle - found["p20_us"]).clip(0), (found["p80_us"] - middle).clip(0)],
            error_kw={"elinewidth": 0.6},
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_yticks(list(places.values()), list(places))
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set_xlabel("time of a call, us")


def _over_floor(ax: Axes, rows: pd.DataFrame, names: list[str]) -> None:
    for number, name in enumerate(names):
        own = rows[rows["implementation"] == name]
        ax.plot(
            own["floor_us"], own["median_us"], ls="none", marker=MARKERS[number], ms=4,
            color=PALETTE[number],
        )  # fmt: skip
    ends = [rows["floor_us"].min(), rows["floor_us"].max()]
    ax.plot(ends, ends, color=PALETTE[len(names) % len(PALETTE)], lw=0.8, ls="--")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("floor by a copy or product beside it, us")
    ax.set_ylabel("time, us")
