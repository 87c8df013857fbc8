"""A plan drawn: memory against throughput."""

from __future__ import annotations

import io
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.atomic import write_bytes
from harness.errors import UsageError
from harness.publish.style import MARKERS, PALETTE
from reproductions.paro.method.planning import Entry, Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

GB = 1e9
NEAR = 1.12
"""Ratio of two points whose names would overlap, on logarithmic axes."""
KNOWN = ("png", "svg", "pdf")
FRONT = "Pareto front"
POINT_PX = 4.0
"""Half of a point's width, in pixels."""
SIDES = ((1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0))
"""Of a point, those first where names are looked for first."""


def draw_plan(plan: Plan, path: Path) -> None:
    """Draw each candidate by its memory and its steps per second, and join the Pareto front.

    Raises UsageError for a file that is no picture, or where nothing takes time.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator

    if path.suffix[1:] not in KNOWN:
        raise UsageError(f"{path}: its name must end in one of {', '.join(KNOWN)}")
    drawn = [each for each in plan.entries if each.total > 0.0]
    if not drawn:
        raise UsageError("--plot: nothing takes time here, so there is no throughput to draw")
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    ax = figure.subplots()
    draw_entries(ax, drawn)
    if isfinite(plan.memory_bytes):
        ax.axvline(plan.memory_bytes / GB, color="#555555", ls=":", lw=1.0, label="memory")
    ax.set(xscale="log", yscale="log", xlabel="GB per GPU", ylabel="optimizer steps per second")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter("")
    ax.margins(x=0.12, y=0.12)
    ax.legend(frameon=False, fontsize=8)
    figure.draw_without_rendering()  # axes have their place from here on
    figure.set_layout_engine("none")
    draw_names(ax, drawn)
    stream = io.BytesIO()
    figure.savefig(stream, format=path.suffix[1:], dpi=150)
    write_bytes(path, stream.getvalue())


def draw_entries(ax: Axes, drawn: list[Entry]) -> None:
    """Draw candidates, those that fit filled, and the line of the front."""
    front = sorted((each for each in drawn if each.is_front), key=memory_gb)
    ax.plot(
        [memory_gb(each) for each in front], [1.0 / each.total for each in front],
        color=PALETTE[0], lw=1.2, zorder=1, label=FRONT,
    )  # fmt: skip
    for fits, word in ((True, "fits"), (False, "does not fit")):
        own = [each for each in drawn if each.found.fits == fits]
        if own:
            ax.scatter(
                [memory_gb(each) for each in own], [1.0 / each.total for each in own],
                s=28, marker=MARKERS[0 if fits else 1], zorder=2, label=word,
                color=PALETTE[0] if fits else "white", edgecolor=PALETTE[0 if fits else 1],
            )  # fmt: skip


def draw_names(ax: Axes, drawn: list[Entry]) -> None:
    """Write names beside their points, each on the side where it meets least of what is there."""
    (line,) = (each for each in ax.lines if each.get_label() == FRONT)
    front = np.asarray(ax.transData.transform_path(line.get_path()).interpolated(40).vertices)
    points = ax.transData.transform([(memory_gb(each), 1.0 / each.total) for each in drawn])
    taken = [
        (x - half, y - half, x + half, y + half)
        for half, spots in ((POINT_PX, points), (1.0, front))
        for x, y in spots
    ]
    legend = ax.get_legend()
    if legend is not None:
        taken.append(legend.get_window_extent().extents)
    for names, x, y in places(drawn):
        text = ax.annotate(names, (x, y), xytext=(0, 0), textcoords="offset points", fontsize=8)

        def met(side: tuple[int, int], text: Annotation = text) -> float:
            """Return the area of what a name would cover, or of it outside of the axes."""
            put(text, side)
            box = text.get_window_extent()
            inside = shared(box, [ax.get_window_extent().extents])
            return box.width * box.height - inside + shared(box, taken)

        put(text, min(SIDES, key=met))
        taken.append(text.get_window_extent().extents)


def put(text: Annotation, side: tuple[int, int]) -> None:
    """Move a name to a side of its point: right or left, above or below or neither."""
    right, up = side
    text.set_position((5 * right, 4 * up))
    text.set_horizontalalignment("left" if right > 0 else "right" if right < 0 else "center")
    text.set_verticalalignment("bottom" if up > 0 else "top" if up < 0 else "center")


def shared(one: Bbox, others: Sequence[Sequence[float]]) -> float:
    """Return the area that a box shares with others, each its least x and y and its largest."""
    corners = np.asarray(others)
    sides = np.minimum(one.max, corners[:, 2:]) - np.maximum(one.min, corners[:, :2])
    return float(sides.clip(min=0.0).prod(axis=1).sum())


def memory_gb(entry: Entry) -> float:
    """Return what a candidate holds."""
    return entry.found.memory.total / GB


def places(drawn: list[Entry]) -> list[tuple[str, float, float]]:
    """Return names with their points; what lies so near that names would overlap shares a text."""
    found: list[list[Entry]] = []
    for each in sorted(drawn, key=memory_gb):
        home = next((own for own in found if is_near(own[0], each)), None)
        if home is None:
            found.append([each])
        else:
            home.append(each)
    return [
        (wrapped([each.title for each in own]), memory_gb(own[-1]), 1.0 / own[-1].total)
        for own in found
    ]


def is_near(one: Entry, other: Entry) -> bool:
    """Return whether names of two candidates would overlap, on logarithmic axes."""
    up = one.total / other.total
    return memory_gb(other) / memory_gb(one) < NEAR and 1.0 / NEAR < up < NEAR


def wrapped(names: list[str]) -> str:
    """Return names, three per line."""
    lines = [", ".join(names[start : start + 3]) for start in range(0, len(names), 3)]
    return ",\n".join(lines)
