"""Committed figures in one column of a page: each is read, in grey too, and fits on the page.

To draw all takes a minute and a half: here are some, others with every commit. With
REPRO_FIGURES_ONE_IN=1 they are all.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.offsetbox import DrawingArea
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.measure.machine import source_state
from harness.publish.figures import draw, figure_of
from harness.publish.refresh import reference_of, stands_in
from harness.publish.style import sequential
from harness.registry import load_registry
from harness.store.result import csv_path, load_result
from harness.store.workspace import COMMITTED_PROFILES, Workspace
from tests.checkout import ROOT
from tests.latex import needs_latex, set_by_latex

LIBRARY = load_registry()
COMMITTED = Workspace(ROOT)
FIGURES = [
    (task, profile)
    for _, task in sorted(LIBRARY.tasks.items())
    for profile in COMMITTED_PROFILES
    if task.figure is not None and csv_path(COMMITTED, task, profile).exists()
]
ONE_IN = int(os.environ.get("REPRO_FIGURES_ONE_IN", "4"))
NUM_TALLER = 4
"""Of those, so many are drawn in other ways too."""
NUM_BY_LATEX = 5
"""And so many as pgf, a second each."""
MEETS_PX = 1.0
"""At 100 pixels an inch; less is rounding."""
LEAST_PANEL_IN = 0.6
"""A panel narrower than that shows nothing."""
LEAST_WORDS_PT = 6.0
MOST_HEIGHT_IN = 9.0
"""Of the text of a page of letter paper."""
KEYS_DPI = 300
LEAST_APART = 0.1
"""Share of its ink by which a key of a legend differs from another."""


def some() -> list[tuple[Task, Profile]]:
    """Return some of the figures, which nobody picked: the commit draws them."""
    commit = source_state().commit

    def place(figure: tuple[Task, Profile]) -> str:
        return hashlib.sha256(f"{commit} {figure[0].id} {figure[1]}".encode()).hexdigest()

    return sorted(FIGURES, key=place)[: -(-len(FIGURES) // ONE_IN)]


@dataclass(frozen=True, slots=True)
class Words:
    """A text, or a whole legend, and the corners of its box, which may be turned."""

    said: str
    corners: np.ndarray
    """Shape (4, 2), in pixels."""

    @classmethod
    def of(cls, text: Text) -> Words:
        angle, whole = text.get_rotation(), text.get_window_extent()
        text.set_rotation(0.0)
        box = text.get_window_extent()
        text.set_rotation(angle)
        # Whatever the angle, the box round a turned one has its centre.
        centre = np.array([whole.x0 + whole.x1, whole.y0 + whole.y1]) / 2
        half, turn = np.array([box.width, box.height]) / 2, np.deg2rad(angle)
        axes = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        return cls(text.get_text(), centre + (signs * half) @ axes)

    def meets(self, other: Words) -> bool:
        """Whether no line parts the two boxes: one along a side of either would."""
        for corners in (self.corners, other.corners):
            for side in (corners[1] - corners[0], corners[3] - corners[0]):
                along = side / max(np.linalg.norm(side), 1e-9)
                one, two = self.corners @ along, other.corners @ along
                if min(one.max(), two.max()) - max(one.min(), two.min()) <= MEETS_PX:
                    return False
        return True

    def beyond(self, page: Bbox) -> float:
        """Return by how many pixels it leaves the page."""
        low, high = self.corners.min(axis=0), self.corners.max(axis=0)
        return float(max(*(page.min - low), *(high - page.max)))


@cache
def table_of(task: Task, profile: Profile) -> pd.DataFrame:
    result = load_result(COMMITTED, task, profile)
    assert result is not None
    return result.table


def given(task: Task, profile: Profile) -> dict[str, Any]:
    """Return what a figure is drawn from."""
    return {
        "table": table_of(task, profile),
        "reference": reference_of(LIBRARY, task),
        "profile": profile,
        "stands_in": stands_in(LIBRARY, task, profile, {}),
    }


def drawn(task: Task, profile: Profile, **options: object) -> Figure:
    return figure_of(task, **given(task, profile), width="3.3in", stamp=False, **options)  # type: ignore[arg-type]


def tick_labels(axis: Axis) -> Iterator[Text]:
    """Yield the labels of an axis that are drawn."""
    low, high = sorted(axis.get_view_interval())
    for tick in itertools.chain(axis.get_major_ticks(), axis.get_minor_ticks()):
        place = tick.get_loc()
        if low <= place <= high or np.isclose(place, [low, high], atol=0.0).any():
            yield from (tick.label1, tick.label2)


def texts_of(figure: Figure) -> Iterator[Text]:
    """Yield titles, labels, numbers on axes and notes; what is in a legend is the legend's."""
    yield from figure.texts
    for ax in figure.axes:
        if not ax.get_visible():
            continue
        yield from (ax.title, *ax.texts)
        if ax.axison:
            for axis in (each for each in (ax.xaxis, ax.yaxis) if each.get_visible()):
                yield from (axis.label, axis.get_offset_text(), *tick_labels(axis))


def words_of(figure: Figure) -> list[Words]:
    shown = [text for text in texts_of(figure) if text.get_visible() and text.get_text().strip()]
    found = [Words.of(text) for text in shown]
    for legend in [*figure.legends, *(each for ax in figure.axes if (each := ax.get_legend()))]:
        boxes = [text.get_window_extent() for text in legend.get_texts()]
        found += [Words("legend", Bbox.union(boxes).corners()[[0, 2, 3, 1]])] if boxes else []
    return found


def faults_of(figure: Figure) -> list[str]:
    """Return which words meet or leave the page, and which panels are too narrow."""
    words = words_of(figure)
    met = [
        f"{one.said!r} meets {other.said!r}"
        for one, other in itertools.combinations(words, 2)
        if one.meets(other)
    ]
    left = [
        f"{each.said!r} leaves the page by {beyond:.0f} px"
        for each in words
        if (beyond := each.beyond(figure.bbox)) > MEETS_PX
    ]
    widths = [
        ax.get_window_extent().width / figure.dpi
        for ax in figure.axes
        if ax.get_subplotspec() is not None and ax.get_visible()
    ]
    narrow = [f"a panel is {each:.2f} inches wide" for each in widths if each < LEAST_PANEL_IN]
    small = [
        f"{text.get_text()!r} has {text.get_fontsize():.1f} points"
        for text in figure.findobj(Text)
        if text.get_text().strip() and text.get_fontsize() < LEAST_WORDS_PT - 1e-6
    ]
    height = figure.get_figheight()
    high = [f"{height:.1f} inches high"] if height > MOST_HEIGHT_IN else []
    return [*met, *left, *narrow, *small, *high, *alone(figure), *alike(figure)]


def panels_of(figure: Figure) -> list[Axes]:
    return [ax for ax in figure.axes if ax.get_subplotspec() is not None and ax.get_visible()]


def numbers_on(axis: Axis) -> list[str]:
    """Return the numbers along an axis; none where names stand there."""
    told = [each.get_text().strip() for each in tick_labels(axis) if each.get_visible()]
    numbers = r"[-\u2212]?[\d.,/]+|\$[^$]*\d[^$]*\$"
    return [each for each in told if re.fullmatch(numbers, each)]


def alone(figure: Figure) -> list[str]:
    """Return the axes with a scale of which one number is shown."""
    found = []
    for ax in panels_of(figure):
        for axis in (ax.xaxis, ax.yaxis) if ax.axison else ():
            told = numbers_on(axis)
            if len(told) == 1:
                found.append(f"of an axis {told[0]} is the only number")
    return found


def alike(figure: Figure) -> list[str]:
    """Return the entries of a legend whose keys a reader cannot tell apart in print of grey."""
    found = []
    for told, keys in keys_of(figure):
        for (one, key), (other, its) in itertools.combinations(zip(told, keys, strict=True), 2):
            if one != other and apart(key, its) < LEAST_APART:
                found.append(f"{one!r} and {other!r} are alike in grey")
    return found


def keys_of(figure: Figure) -> Iterator[tuple[list[str], list[np.ndarray]]]:
    """Yield the words of each legend, and the ink of its keys, from 0 of white to 1 of black."""
    dpi = figure.dpi
    figure.set_dpi(KEYS_DPI)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    ink = 1.0 - np.asarray(canvas.buffer_rgba())[:, :, :3] @ np.array([0.299, 0.587, 0.114]) / 255
    for legend in [*figure.legends, *(each for ax in figure.axes if (each := ax.get_legend()))]:
        boxes = [each.get_window_extent() for each in legend.findobj(DrawingArea)]
        # All of one size, whatever is rounded.
        wide, tall = round(boxes[0].width), round(boxes[0].height)
        places = [(round(len(ink) - box.y1), round(box.x0)) for box in boxes]
        keys = [ink[top : top + tall, left : left + wide] for top, left in places]
        yield [text.get_text() for text in legend.get_texts()], keys
    figure.set_dpi(dpi)
    figure.draw_without_rendering()


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Return which share of the ink of two keys is not common to both, best laid on each other."""
    shifts = itertools.product((-1, 0, 1), (-1, 0, 1))
    least = min(float(np.abs(one - np.roll(other, by, axis=(0, 1))).sum()) for by in shifts)
    return least / max(float(one.sum()), float(other.sum()))


def of_one_look(figure: Figure) -> list[str]:
    """Return the ordered series of a legend that shade alone tells apart."""
    shades, found = {shade for count in range(2, 20) for shade in sequential(count)}, []
    for legend in [*figure.legends, *(each for ax in figure.axes if (each := ax.get_legend()))]:
        looks: dict[tuple[object, ...], str] = {}
        for key, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            if isinstance(key, Line2D) and key.get_color() in shades:
                look = (key.get_marker(), key.get_linestyle(), key.get_linewidth())
                other = looks.setdefault(look, text.get_text())
                found += [f"{other} and {text.get_text()}"] if other != text.get_text() else []
    return found


@pytest.mark.parametrize("task", ["asymvalley/fig11", "asymvalley/fig27", "supar/fig05"])
def test_shade_is_not_all_that_tells_ordered_series_apart(task: str) -> None:
    assert not of_one_look(drawn(LIBRARY.one(task), "cpu"))


@pytest.mark.parametrize(
    ("task", "profile"), some(), ids=[f"{task.id}-{profile}" for task, profile in some()]
)
def test_words_in_a_column_neither_meet_nor_leave_the_page(task: Task, profile: Profile) -> None:
    figure = drawn(task, profile)
    assert figure.get_figwidth() == 3.3
    assert faults_of(figure) == []
    told = [each.said for each in words_of(figure)]
    assert [said for said in told if re.search(rf"{task.id}|profile ", said)] == []


def names_of(figure: Figure) -> tuple[list[str], list[str]]:
    """Return what the axes of each panel are called: there, or to the left of it, or below it."""
    boxes = {ax: ax.get_window_extent() for ax in panels_of(figure)}
    upward, across = [], []
    for ax, box in boxes.items():
        if not numbers_on(ax.yaxis):
            continue
        row = [o for o, its in boxes.items() if abs(its.y0 - box.y0) < 1 and its.x0 <= box.x0]
        column = [o for o, its in boxes.items() if abs(its.x0 - box.x0) < 1 and its.y0 <= box.y0]
        row.sort(key=lambda other: -boxes[other].x0)
        column.sort(key=lambda other: -boxes[other].y0)
        upward.append(next((name for other in row if (name := other.get_ylabel())), ""))
        across.append(next((name for other in column if (name := other.get_xlabel())), ""))
    return upward, across


@pytest.mark.parametrize(
    ("task", "profile"), some(), ids=[f"{task.id}-{profile}" for task, profile in some()]
)
def test_an_axis_has_a_name_in_a_column_if_it_has_one_over_two(
    task: Task, profile: Profile
) -> None:
    """Panels that stand in other rows there take along what named their row."""
    over_two = figure_of(task, **given(task, profile))
    both = (over_two, drawn(task, profile))
    without = [[names.count("") for names in names_of(each)] for each in both]
    assert without[1][0] <= without[0][0] and without[1][1] <= without[0][1]


def test_height_and_ours_alone_go_with_any_figure() -> None:
    for task, profile in some()[:NUM_TALLER]:
        plain = drawn(task, profile, ours_only=True)
        height_in = min(plain.get_figheight() + 0.5, MOST_HEIGHT_IN)
        taller = drawn(task, profile, ours_only=True, height=f"{height_in:.4f}in")
        assert taller.get_figheight() == pytest.approx(height_in, abs=1e-4), task.id
        for figure in (plain, taller):
            assert faults_of(figure) == [], task.id


DOCUMENT = r"""\documentclass{article}
\usepackage{pgf}
\begin{document}
%s
\end{document}
"""


def test_pgf_of_any_figure_is_set_by_latex(tmp_path: Path) -> None:
    needs_latex("pgf.sty")
    chosen = some()[:NUM_BY_LATEX]
    for number, (task, profile) in enumerate(chosen):
        look = given(task, profile)
        (tmp_path / f"{number}.pgf").write_bytes(draw(task, fmt="pgf", width="3.3in", **look))
    names = [rf"\input{{{number}.pgf}}" for number in range(len(chosen))]
    log = set_by_latex(DOCUMENT % "\n\\clearpage\n".join(names), tmp_path)
    assert "Missing character" not in log
    (pages,) = re.findall(r"\((\d+) pages", log)
    assert int(pages) >= len(chosen)


def test_what_meets_or_leaves_is_found() -> None:
    figure = Figure(figsize=(3.3, 2.0))
    ax = figure.subplots()
    ax.set_xticks([0.0, 0.01, 1.0], ["zero point", "hundredth", "one"])
    ax.set_yticks([0.0, 0.5, 1.0], ["low", "half", "high"])
    figure.text(0.8, 0.95, "far too long for what is left")
    figure.draw_without_rendering()
    met, *left = faults_of(figure)
    assert met == "'zero point' meets 'hundredth'"
    assert [each for each in left if "leaves the page" not in each] == [] and len(left) >= 1
    # Turned, they stand beside each other, though the boxes round them meet.
    figure = Figure(figsize=(3.3, 2.0))
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    for place, name in enumerate(["a long name", "a longer name"]):
        figure.text(0.6 + 0.1 * place, 0.8, name, **turned)  # type: ignore[arg-type]
    assert faults_of(figure) == []
    figure.text(0.62, 0.8, "too near", **turned)  # type: ignore[arg-type]
    assert len(faults_of(figure)) == 1
