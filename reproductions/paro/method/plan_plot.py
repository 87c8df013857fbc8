"""A plan drawn: memory against throughput."""

from __future__ import annotations

import io
from math import isfinite
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from harness.atomic import write_bytes
from harness.errors import UsageError
from harness.publish.style import MARKERS, PALETTE
from reproductions.paro.method.planning import Entry, Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GB = 1e9
NEAR = 1.25
"""Ratio of two points whose names would overlap, on logarithmic axes."""
KNOWN = ("png", "svg", "pdf")


def draw_plan(plan: Plan, path: Path) -> None:
    """Draw each candidate by its memory and its steps per second, and join the Pareto front.

    Raises UsageError for a file that is no picture, or where nothing takes time.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator

    if path.suffix[1:] not in KNOWN:
        raise UsageError(f"{path}: its name must end in one of {', '.join(KNOWN)}")
    drawn = sorted((each for each in plan.entries if each.total > 0.0), key=memory_gb)
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
    stream = io.BytesIO()
    figure.savefig(stream, format=path.suffix[1:], dpi=150)
    write_bytes(path, stream.getvalue())


def draw_entries(ax: Axes, drawn: list[Entry]) -> None:
    """Draw candidates with their names, those that fit filled, and the line of the front."""
    front = [each for each in drawn if each.is_front]
    ax.plot(*points(front), color=PALETTE[0], lw=1.2, zorder=1, label="Pareto front")
    for fits, word in ((True, "fits"), (False, "does not fit")):
        own = [each for each in drawn if each.found.fits == fits]
        if own:
            ax.scatter(
                *points(own), s=28, marker=MARKERS[0 if fits else 1], zorder=2, label=word,
                color=PALETTE[0] if fits else "white", edgecolor=PALETTE[0 if fits else 1],
            )  # fmt: skip
    for near in neighbours(drawn):
        last = near[-1]
        names = fill(", ".join(each.title for each in near), 40)
        # The front rises to the right: there is room below it.
        up, side = (-3, "top") if last.is_front else (3, "bottom")
        point = memory_gb(last), 1.0 / last.total
        ax.annotate(names, point, xytext=(5, up), textcoords="offset points", fontsize=8, va=side)


def memory_gb(entry: Entry) -> float:
    """Return what a candidate holds."""
    return entry.found.memory.total / GB


def points(entries: list[Entry]) -> tuple[list[float], list[float]]:
    """Return where candidates are: GB, and steps per second."""
    return [memory_gb(each) for each in entries], [1.0 / each.total for each in entries]


def neighbours(drawn: list[Entry]) -> list[list[Entry]]:
    """Return candidates by memory; those share a text that lie so near that names would overlap."""
    found: list[list[Entry]] = []
    for each in drawn:
        home = next((own for own in found if is_near(own[0], each)), None)
        if home is None:
            found.append([each])
        else:
            home.append(each)
    return found


def is_near(one: Entry, other: Entry) -> bool:
    """Return whether names of two candidates would overlap, on logarithmic axes."""
    up = one.total / other.total
    return memory_gb(other) / memory_gb(one) < NEAR and 1.0 / NEAR < up < NEAR
