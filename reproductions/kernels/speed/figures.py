"""Times by implementation, and their rates of arithmetic under the roofs of the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare.statistics import aggregate
from harness.publish.figures import MARKERS, PALETTE, FigureContext, log_numbers, points
from reproductions.kernels.cases import Case, Precision, case_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY, LIGHT = "0.4", "0.9"
BEFORE, BEYOND = 2.0, 8.0
"""Factors of FLOP per byte that are drawn round calls and ridges; words stand on what is flat."""

STEP = 15
"""AdamW per entry: 3 for the first moment, 4 for the second, 3 for the root, 5 for the weight."""
NORMS = 4
"""A square and a sum each, of gradients and of weights."""
PER_CALL: dict[str, Callable[..., int]] = {
    "masked_adamw": lambda num_tensors, entries: STEP * num_tensors * entries,
    "layer_adamw": lambda num_tensors, entries: (STEP + NORMS) * num_tensors * entries,
    "shard_pack: step": lambda blocks, entries: STEP * blocks * entries,
    "shard_pack: rearrange": lambda blocks, entries: 0,
    # A multiple, and a sum.
    "rademacher: sum": lambda entries, directions: 2 * directions * entries,
    "rademacher: along": lambda entries, directions: 2 * directions * entries,
    "rademacher: both": lambda entries, directions: 4 * directions * entries,
    # 14 of Adam, 4 that all tangents share, and 15 per tangent.
    "tangent_step": lambda entries, directions: (18 + 15 * directions) * entries,
    # 6 for a kept share, 5 for the gradient, 1 for the penalty.
    "sign_ops": lambda entries: 12 * entries,
}
"""FLOPs of calls without a product, as plain torch writes them; absolute values and signs count.

They decide nothing: the rate of a call and its ceiling are both multiples of them.
"""


def time_panels(context: FigureContext) -> Figure:
    """Draw times by case, and all calls in a roofline."""
    rows = context.table.dropna(subset=["median_us"])
    beside = context.width == "double"
    figure, (cases, roofline) = context.subplots(*((1, 2) if beside else (2, 1)), aspect=1.0)
    looks = {name: look(number) for number, name in enumerate(rows["implementation"].unique())}
    _by_case(cases, rows, looks)
    _roofline(roofline, in_roofline(rows), looks)
    handles, labels = cases.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3 if beside else 2)
    return figure


def look(number: int) -> dict[str, Any]:
    """Return how marks of an implementation look; those beyond the colours are hollow."""
    turn, place = divmod(number, len(PALETTE))
    hollow = {"markerfacecolor": "white"} if turn else {}
    return {"ls": "none", "marker": MARKERS[place], "ms": 4, "color": PALETTE[place], **hollow}


def _by_case(ax: Axes, rows: pd.DataFrame, looks: dict[str, dict[str, Any]]) -> None:
    labels = rows["case"] + ", " + rows["precision"]
    places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    for number, (name, marks) in enumerate(looks.items()):
        own = rows[rows["implementation"] == name].assign(label=labels)
        found = {
            column: aggregate(own, by=["label"], value=column).set_index("label")["mean"]
            for column in ("median_us", "p20_us", "p80_us")
        }
        middle = found["median_us"]
        shift = 0.7 * ((number + 0.5) / len(looks) - 0.5)
        ax.errorbar(
            middle, [places[label] + shift for label in middle.index],
            xerr=[(middle - found["p20_us"]).clip(0), (found["p80_us"] - middle).clip(0)],
            label=name, **marks,
        )  # fmt: skip
    log_numbers(ax.xaxis, "{x:,.0f}")
    ax.set_yticks(list(places.values()), list(places))
    ax.set_ylim(len(places) - 0.5, -0.5)
    ax.set_xlabel("time of a call, us")


def flops_of(case: Case, precision: Precision) -> int:
    """Return the FLOPs of a call's products or, where it has none, of its arithmetic."""
    name = f"{case.kernel}: {case.call}" if case.call else case.kernel
    return case.work(precision).flops or PER_CALL[name](**case.sizes)


def in_roofline(rows: pd.DataFrame) -> pd.DataFrame:
    """Return FLOP per byte, rates of arithmetic and of the machine, means over seeds.

    Left out is what moves bytes alone.
    """
    calls = zip(rows["kernel"], rows["case"], rows["precision"], strict=True)
    flops = np.array([flops_of(case_of(kernel, case), kind) for kernel, case, kind in calls])
    moved = rows["bytes"].astype(float)
    # Where products take longer than bytes, the copy is all that is known of these.
    least_us = np.minimum(rows["copy_us"], rows["floor_us"])
    found = rows.assign(
        flop_per_byte=flops / moved,
        gflop_per_s=flops / (1e3 * rows["median_us"]),
        gb_per_s=moved / (1e3 * least_us),
    )[flops > 0]
    by = ["case", "precision", "implementation"]
    means = ["flop_per_byte", "gflop_per_s", "gb_per_s", "product_gflop_per_s"]
    return found.groupby(by, sort=False)[means].mean().reset_index()


def _roofline(ax: Axes, calls: pd.DataFrame, looks: dict[str, dict[str, Any]]) -> None:
    """Draw calls under what bytes and products allow: from the slowest copy to the fastest."""
    if calls.empty:
        ax.set_axis_off()
        return
    slow, fast = calls["gb_per_s"].min(), calls["gb_per_s"].max()
    flat = calls.dropna(subset=["product_gflop_per_s"])
    peaks = flat.groupby("precision", sort=False)["product_gflop_per_s"].max()
    ends = [*calls["flop_per_byte"], *(peaks / slow)]
    intensity = np.geomspace(min(ends) / BEFORE, max(ends) * BEYOND, 200)
    top = peaks.max() if len(peaks) else np.inf
    ax.fill_between(
        intensity, np.minimum(slow * intensity, top), np.minimum(fast * intensity, top),
        color=LIGHT, lw=0,
    )  # fmt: skip
    for precision, peak in peaks.items() if len(peaks) else [("", np.inf)]:
        ax.plot(intensity, np.minimum(fast * intensity, peak), color=GREY, lw=0.8)
        if precision:
            # Above a lower one is another's slope.
            up = peak == top
            ax.annotate(
                f"{precision} products", (intensity[-1], peak), (0, 2 if up else -2),
                textcoords="offset points", ha="right", va="bottom" if up else "top",
                color=GREY, fontsize=points(6),
            )  # fmt: skip
    for name, marks in looks.items():
        own = calls[calls["implementation"] == name]
        ax.plot(own["flop_per_byte"], own["gflop_per_s"], **marks)
    told = dict.fromkeys(f"{rate:,.0f}" for rate in (slow, fast))
    ax.set_title(f"copies of {' to '.join(told)} GB/s", color=GREY, fontsize=points(6.5))
    log_numbers(ax.xaxis, "{x:,g}")
    log_numbers(ax.yaxis, "{x:,g}")
    ax.set_xlabel("FLOP per byte")
    ax.set_ylabel("GFLOP per second")
