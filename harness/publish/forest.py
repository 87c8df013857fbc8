"""The forest plot of a paper: how far each claim's effect lies beyond what the claim asks."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from harness.declare.criterion import STEPS
from harness.declare.profiles import Profile
from harness.declare.verdict import Part, Word
from harness.publish.check_row import CheckRow
from harness.publish.report.page import SCALES
from harness.publish.report.units import readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {Word.SUPPORTED: "#1b7f5c", Word.CONTRADICTED: "#b2182b", Word.UNDECIDED: "#b8860b"}
SIGNS = {Word.SUPPORTED: "o", Word.CONTRADICTED: "X", Word.UNDECIDED: "D"}
ROW_IN = 0.19
PANEL_IN = 0.46
"""What a panel takes beside its rows: its axis and the gap to the next one."""
WIDEST = 6.0
"""A point farther out than so many times the middle one is drawn at the edge, as an arrow."""
LABEL_LETTERS = 28
"""In a line of a row's label, of at most two."""


class Effect(NamedTuple):
    """One interval of a claim: mean and ends less what is asked, positive where it supports."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ForestRow:
    """A claim as the plot shows it."""

    row: CheckRow
    unit: str
    effects: tuple[Effect, ...]
    """The number that decides first, then the others."""
    paper: float | None
    """Where the paper's own number lies."""


def forest_rows(rows: Iterable[CheckRow]) -> list[ForestRow]:
    """Return the paper's claims that were measured, in their order."""
    return [found for row in rows if row.kind == "claim" and (found := _forest_row(row))]


def _forest_row(row: CheckRow) -> ForestRow | None:
    if row.verdict not in COLOURS:
        return None
    told = readable(row)
    unit = told.unit
    effects = []
    parts = [Part(name="", measured=told.measured, low=told.low, high=told.high)]
    parts += [part for part in told.parts if part.measured != told.measured]
    for each in parts:
        if each.measured is not None and each.low is not None and each.high is not None:
            mean, *ends = (_beyond(told, at) for at in (each.measured, each.low, each.high))
            effects.append(Effect(mean, min(*ends, mean), max(*ends, mean)))
    if row.form == "ratio" or unit in ("", "1", "ratio"):
        unit = "doublings" if row.form == "ratio" else "no unit"
    paper = None if told.paper_value is None else _beyond(told, told.paper_value)
    return ForestRow(row=row, unit=unit, effects=tuple(effects), paper=paper) if effects else None


def _beyond(row: CheckRow, value: float) -> float:
    """Return how far a number lies inside what is asked; of a ratio, in doublings."""
    bounds = row.threshold
    if not isinstance(bounds, (list, tuple)):
        is_upper = row.form in ("at_most", "less_than")
        bound = -float(bounds) if row.form in STEPS else float(bounds)
        bounds = (-math.inf, bound) if is_upper else (bound, math.inf)
    low, high = (float(bound) for bound in bounds)
    if row.form == "ratio":
        value, low, high = (math.log2(max(each, 1e-12)) for each in (value, low, high))
    return min(value - low, high - value)


def draw_forest(rows: Sequence[CheckRow], profile: Profile) -> bytes:
    """Return the plot as SVG, one column wide; equal rows give equal bytes.

    A panel per unit and a row per claim, in the paper's order; below them what was not tested.
    """
    # First: it says what is wrong with a user's settings of matplotlib.
    from harness.publish.figures import WIDTH_IN, saved, themed  # isort: skip
    from matplotlib.figure import Figure

    from harness.publish.page import stamp

    found = sorted(forest_rows(rows), key=lambda each: each.unit)
    panels = [(unit, list(group)) for unit, group in groupby(found, lambda each: each.unit)]
    panels.sort(key=lambda panel: -len(panel[1]))
    sizes = [len(group) for _, group in panels]
    height = ROW_IN * sum(sizes) + PANEL_IN * len(sizes)
    with themed():
        figure = Figure((WIDTH_IN["single"], height), layout="constrained")
        grid = figure.subplots(len(panels), height_ratios=sizes, squeeze=False)
        for ax, (unit, group) in zip(grid.flat, panels, strict=True):
            _panel(ax, unit, group)
        stamp(figure, _words(rows, profile))
        return saved(figure, "svg")


def _panel(ax: Axes, unit: str, group: Sequence[ForestRow]) -> None:
    edge = _edge(group)
    for place, each in enumerate(reversed(group)):
        _draw_row(ax, place, each, edge)
    labels = ["\n".join(textwrap.wrap(each.row.label, LABEL_LETTERS)) for each in reversed(group)]
    ax.set_yticks(range(len(group)), labels, fontsize=6.0, linespacing=0.95)
    ax.set_ylim(-0.6, len(group) - 0.4)
    ax.set_xlim(-edge, edge)
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.locator_params(axis="x", nbins=5)
    ax.tick_params(axis="x", labelsize=6.0)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(f"beyond what is asked ({unit})", fontsize=6.0, labelpad=1.5)
    ax.grid(visible=True, axis="x")
    ax.grid(visible=False, axis="y")


def _edge(group: Sequence[ForestRow]) -> float:
    """Return where a panel ends: one claim far out must not press the others together."""
    reaches = sorted(max(abs(e.low), abs(e.high)) for each in group for e in each.effects)
    middle = reaches[len(reaches) // 2] or reaches[-1] or 1.0
    return 1.08 * min(reaches[-1] or 1.0, WIDEST * middle)


def _draw_row(ax: Axes, place: int, each: ForestRow, edge: float) -> None:
    word = Word(each.row.verdict)
    colour = COLOURS[word]
    first, *others = each.effects
    for effect in others:
        ends = [max(effect.low, -edge), min(effect.high, edge)]
        ax.plot(ends, [place, place], "-|", color=colour, lw=0.6, ms=2.5, mew=0.6, alpha=0.6)
    ax.plot([max(first.low, -edge), min(first.high, edge)], [place, place], color=colour, lw=1.3)
    if abs(first.mean) > edge:
        sign = ">" if first.mean > 0 else "<"
        ax.plot([math.copysign(0.985 * edge, first.mean)], [place], sign, color=colour, ms=3.5)
    else:
        filled = colour if each.row.registered else "white"
        ax.plot([first.mean], [place], SIGNS[word], color=colour, mfc=filled, ms=3.6, zorder=3)
    if each.paper is not None and abs(each.paper) <= edge:
        ax.plot([each.paper], [place], "s", color="#666666", mfc="none", ms=4.6, mew=0.6, zorder=4)
    if each.row.control == "held":
        ax.plot([-0.97 * edge], [place], "^", color="#bbbbbb", ms=3)


def _words(rows: Sequence[CheckRow], profile: Profile) -> str:
    """Return what stands below the panels."""
    mine = [row for row in rows if row.kind == "claim"]
    shown = forest_rows(mine)
    signs = {Word.SUPPORTED: "circle", Word.CONTRADICTED: "cross", Word.UNDECIDED: "diamond"}
    told = [f"{signs[word]}: {word.lower()}" for word in COLOURS]
    told += ["hollow: exploratory"] if any(not each.row.registered for each in shown) else []
    told += ["grey square: the paper"] if any(each.paper is not None for each in shown) else []
    told += ["triangle: control held"] if any(e.row.control == "held" for e in shown) else []
    told += ["bar: 95 % interval; right of the line supports the paper"]
    left = [row.label for row in mine if row not in [each.row for each in shown]]
    untested = f" Not tested: {', '.join(left)}." if left else ""
    return f"{SCALES[profile]}. {'; '.join(told)}.{untested}"
