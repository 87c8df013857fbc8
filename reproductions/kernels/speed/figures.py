"""Times by implementation, and each of them over its floor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.statistics import aggregate
from harness.publish.figures import MARKERS, PALETTE, FigureContext, log_numbers

GREY = "0.4"

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def time_panels(context: FigureContext) -> Figure:
    """Draw times by case, and all times over their floors."""
    rows = context.table.dropna(subset=["median_us"])
    beside = context.width == "double"
    figure, (cases, floors) = context.subplots(*((1, 2) if beside else (2, 1)), aspect=1.0)
    names = list(dict.fromkeys(rows["implementation"]))
    _by_case(cases, rows, names)
    _over_floor(floors, rows, names)
    handles, labels = cases.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3 if beside else 2)
    return figure


def _by_case(ax: Axes, rows: pd.DataFrame, names: list[str]) -> None:
    labels = rows["case"] + ", " + rows["precision"]
    places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    for number, name in enumerate(names):
        own = rows[rows["implementation"] == name].assign(label=labels)
        found = {
            column: aggregate(own, by=["label"], value=column).set_index("label")["mean"]
            for column in ("median_us", "p20_us", "p80_us")
        }
        middle = found["median_us"]
        shift = 0.7 * ((number + 0.5) / len(names) - 0.5)
        ax.errorbar(
            middle, [places[label] + shift for label in middle.index],
            xerr=[(middle - found["p20_us"]).clip(0), (found["p80_us"] - middle).clip(0)],
            ls="none", marker=MARKERS[number], ms=4, color=PALETTE[number], label=name,
        )  # fmt: skip
    log_numbers(ax.xaxis, "{x:,.0f}")
    ax.set_yticks(list(places.values()), list(places))
    ax.set_ylim(len(places) - 0.5, -0.5)
    ax.set_xlabel("time of a call, us")


def _over_floor(ax: Axes, rows: pd.DataFrame, names: list[str]) -> None:
    for number, name in enumerate(names):
        own = rows[rows["implementation"] == name]
        ax.plot(
            own["floor_us"], own["median_us"], ls="none", marker=MARKERS[number], ms=4,
            color=PALETTE[number],
        )  # fmt: skip
    ends = [rows["floor_us"].min(), rows["floor_us"].max()]
    ax.plot(ends, ends, color=GREY, lw=0.8, ls="--")
    log_numbers(ax.xaxis, "{x:,.0f}")
    log_numbers(ax.yaxis, "{x:,.0f}")
    ax.set_xlabel("floor, us")
    ax.set_ylabel("time, us")
