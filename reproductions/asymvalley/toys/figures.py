"""Figures of scalings and toys: Figures 2, 10, 27 and 29."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from harness.declare.statistics import aggregate
from harness.publish.figures import MARKERS, PALETTE, FigureContext, plot_ours, sequential
from reproductions.asymvalley.method.directions import NOISE_LABELS, NOISES

SCALING_LABELS = {
    ("raw", ""): "raw",
    ("ns", ""): "norm-scaled",
    ("filter_ns", "abs"): "filter-NS, |w|",
    ("filter_ns", "skip"): "filter-NS, zero",
    ("filter_ns", "copy"): "filter-NS, copy",
}
"""Names of the rows: filter-NS by its rule for one-dimensional tensors."""
PATTERN_SIZES = (-1.0, -0.6, -0.2, 0.0, 0.2, 0.6, 1.0)
METRIC_TITLES = {
    "error": "error",
    "ce": "cross-entropy",
    "trace_p": "tr(P)",
    "trace_h": "tr(H)",
    "first_order_eps": "1st order, noise",
    "second_order_eps": "2nd order, noise",
    "first_order_weight": "1st order, weights",
    "second_order_weight": "2nd order, weights",
}
SIDE = 8
"""Pixels of an image's side."""


def scaling_panels(context: FigureContext) -> Figure:
    """Draw cosine with the noise, and length over the weights', by kind of noise."""
    figure, axes = context.subplots(1, 2, aspect=0.8 if context.width == "double" else 1.3)
    table = context.table.assign(
        kind=context.table["noise"].map({noise: float(i) for i, noise in enumerate(NOISES)}),
        cosine=1.0 - context.table["one_minus_cosine"],
    )
    for ax, value in zip(axes, ("cosine", "norm_ratio"), strict=True):
        for index, ((norm, rule), label) in enumerate(SCALING_LABELS.items()):
            rows = table[(table["norm"] == norm) & (table["one_dim_rule"] == rule)]
            # Side by side: equal values would hide one another.
            rows = rows.assign(kind=rows["kind"] + 0.14 * (index - 2))
            color, marker = PALETTE[index], MARKERS[index]
            plot_ours(
                ax, rows, x="kind", y=value, label=label, color=color, marker=marker, style=""
            )
        ax.set_xticks(range(len(NOISES)), list(NOISE_LABELS.values()), rotation=40, ha="right")
    axes[0].set_ylabel("cosine with the noise")
    axes[0].set_ylim(0.0, 1.05)
    axes[1].set_ylabel("relative length")
    axes[1].set_yscale("log")
    context.legend_above(figure, axes[:1], 3)
    return figure


def pattern_images(context: FigureContext) -> Figure:
    """Draw w + l sign(w) of every digit as images, one strip per l."""
    pixels = context.table[context.table["part"] == "pixel"]
    weights = pixels.pivot(index="digit", columns="x", values="weight").to_numpy(dtype="float64")
    figure, axes = context.subplots(len(PATTERN_SIZES), 1, aspect=0.115)
    signs = np.where(weights > 0, 1.0, -1.0)
    centres = [(SIDE + 1) * digit + (SIDE - 1) / 2 for digit in range(len(weights))]
    for ax, size in zip(axes, PATTERN_SIZES, strict=True):
        strip = _strip(weights + size * signs)
        ax.imshow(strip, vmin=-1.0, vmax=1.0, interpolation="nearest")
        ax.set(xticks=[], yticks=[])
        ax.set_ylabel(f"l = {size:g}", rotation=0, ha="right", va="center")
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
    axes[0].xaxis.tick_top()
    axes[0].set_xticks(centres, [str(digit) for digit in range(len(weights))])
    axes[0].tick_params(length=0)
    return figure


def _strip(rows: np.ndarray) -> np.ndarray:
    """Return images side by side with a gap, each over its largest magnitude."""
    scaled = rows / np.abs(rows).max(axis=1, keepdims=True)
    images = scaled.reshape(len(rows), SIDE, SIDE)
    padded = np.pad(images, ((0, 0), (0, 0), (0, 1)), constant_values=np.nan)
    return np.concatenate(list(padded), axis=1)[:, :-1]


def unit_panels(context: FigureContext) -> Figure:
    """Draw the distributions before and after the ReLU, and the active share by size."""
    figure, axes = context.subplots(1, 3, aspect=1.0)
    before, after, active = axes
    bins = context.table[context.table["part"] == "bin"]
    summary = context.table[context.table["part"] == "summary"]
    sizes = sorted(summary["lambda"].unique())
    shares = summary.groupby("lambda")["active"].mean()
    for size, color, marker in zip(sizes, sequential(len(sizes)), MARKERS, strict=False):
        look: dict[str, Any] = {"color": color, "marker": marker, "where": "mid"}
        curve = aggregate(bins[bins["lambda"] == size], by=["x"], value="density").sort_values("x")
        x, height = curve["x"].to_numpy(), curve["mean"].to_numpy()
        positive = height[x > 0]
        # One mark each, at the top: in the tails all curves are one.
        before.step(x, height, markevery=[height.argmax()], label=f"l = {size:g}", **look)
        after.step(x[x > 0], positive, markevery=[positive.argmax()], **look)
        width = x[1] - x[0]
        at_zero = (1.0 - shares[size]) / width
        after.plot([0.0], [at_zero], marker=marker, color=color, linestyle="")
    before.set(xlabel="pre-activation", ylabel="density", title="before the ReLU")
    after.set(xlabel="activation", title="after the ReLU")
    plot_ours(active, summary, x="lambda", y="active", label="", color=PALETTE[0])
    active.set(xlabel="size of the noise l", ylabel="active share", title="active")
    context.legend_above(figure, [before], 5, narrow=3)
    return figure


def metric_panels(context: FigureContext) -> Figure:
    """Draw the six metrics against the size of the noise, the last two along both directions."""
    figure, axes = context.subplots(2, 4, aspect=1.0, turn=False)
    for ax, (value, title) in zip(axes, METRIC_TITLES.items(), strict=True):
        for consistent, label in ((False, "raw"), (True, "sign-consistent")):
            plot_ours(
                ax,
                context.table[context.table["sign_consistent"] == consistent],
                x="lambda",
                y=value,
                label=label,
                color=PALETTE[int(consistent)],
                marker=MARKERS[int(consistent)],
            )
        for line in ax.get_lines():
            line.set_markersize(2.0)
        ax.set(title=title, xlabel="size l", xticks=(-1.0, 0.0, 1.0))
    context.legend_above(figure, axes[:1], 2)
    return figure
