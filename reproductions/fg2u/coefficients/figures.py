"""Figures 2 and E.1: errors against seconds and by equation; exact solutions."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.publish.figures import MARKERS, PALETTE, FigureContext, plot_ours, plot_paper
from reproductions.fg2u.coefficients.table import NUM_OBSERVED, PDE_NAMES, SERIES

SOLVERS = {"pinn_adam": "PINN, Adam", "pinn_sgd": "PINN, SGD", "numerical": "numerical"}
FITS = {
    "pinn": "PINN, (FG)²U",
    "single": "numerical, (FG)²U-ZO",
    "quadrature": "as released",
    "exact": "numerical, (FG)²U",
}
FRONT, REST = "#000000", "#777777"


def look(place: int) -> dict[str, Any]:
    return {"color": PALETTE[place], "marker": MARKERS[place]}


def coefficient_panels(context: FigureContext) -> Figure:
    """Draw errors against seconds, and both errors of the fits."""
    figure, axes = context.subplots(1, 3, aspect=1.5 if context.width == "double" else 1.25)
    _solutions(axes[0], context)
    _fits(axes[1], context, "eps_phi", "coefficient")
    _fits(axes[2], context, "eps_u", "solution")
    axes[1].set_ylabel("relative error")
    columns = 2 if context.width == "double" else 1
    left, fits = (ax.get_legend_handles_labels() for ax in axes[:2])
    figure.legend(*left, loc="outside upper left", ncols=columns, columnspacing=0.8)
    figure.legend(*fits, loc="outside upper right", ncols=columns, columnspacing=0.8)
    return figure


def _solutions(ax: Axes, context: FigureContext) -> None:
    rows, read = context.table, context.reference
    read = read[read["x_name"] == "seconds_per_solution"]
    for place, (method, name) in enumerate(SOLVERS.items()):
        own = rows[(rows["panel"] == "forward") & (rows["method"] == method)]
        _trace(ax, own, name, **look(place))
        plot_paper(ax, read[read["series"] == f"burgers {method}"], label=name, **look(place))
    ax.axhline(1e-2, color=REST, linewidth=0.6, linestyle=":")
    ax.set(xscale="log", yscale="log", xlabel="seconds per solution")
    ax.set(ylabel="relative L2 error", title="Burgers")


def _trace(ax: Axes, rows: pd.DataFrame, name: str, **look: Any) -> None:
    """Draw mean errors at mean seconds, per number of steps or grid."""
    if rows.empty:
        return
    by = ["inner_steps", "num_points"]
    points = rows.groupby(by)[["solve_s", "eps_u"]].mean().reset_index().sort_values("solve_s")
    plot_ours(ax, points, x="solve_s", y="eps_u", label=name, style="-", **look)


def _fits(ax: Axes, context: FigureContext, column: str, title: str) -> None:
    rows = context.table
    rows = rows[(rows["panel"] == "inverse") & (rows["num_observed"] == NUM_OBSERVED)]
    places = {pde: place for place, pde in enumerate(PDE_NAMES)}
    for number, (method, name) in enumerate(FITS.items()):
        aside = 0.18 * (number - 1.5)
        own = rows[rows["method"] == method]
        own = own.assign(x=[places[str(pde)] + aside for pde in own["pde"]])
        plot_ours(ax, own, x="x", y=column, label=name, style="", **look(number))
        if method in SERIES:
            read = context.reference
            read = read[read["y_name"] == column]
            for pde, place in places.items():
                its = read[read["series"] == f"{pde} {SERIES[method]}"].assign(x=place + aside)
                label = name if not place else "_"
                plot_paper(ax, its, label=label, **look(number))
    ax.set_xticks(list(places.values()), [name.replace("-", "-\n") for name in PDE_NAMES.values()])
    ax.set(yscale="log", title=title, xlim=(-0.5, 2.5))


def solution_panels(context: FigureContext) -> Figure:
    """Draw each exact solution with its observed points."""
    figure, axes = context.subplots(1, 3, aspect=0.9)
    for ax, (pde, name) in zip(axes, PDE_NAMES.items(), strict=True):
        rows = context.table[context.table["pde"] == pde]
        field = rows[rows["kind"] == "field"].pivot(index="x", columns="t", values="u")
        values = field.to_numpy("float64")
        mesh = ax.pcolormesh(
            field.columns.to_numpy("float64"), field.index.to_numpy("float64"), values,
            shading="nearest", rasterized=True,
        )  # fmt: skip
        seen = rows[rows["kind"] == "observed"]
        ax.plot(
            seen["t"].to_numpy("float64"), seen["x"].to_numpy("float64"), linestyle="none",
            marker="o", markersize=2.0, color="white", markeredgecolor=FRONT, markeredgewidth=0.4,
        )  # fmt: skip
        figure.colorbar(mesh, ax=ax, label="u" if ax is axes[-1] else "")
        ax.set(title=name, xlabel="t")
    axes[0].set_ylabel("x")
    return figure
