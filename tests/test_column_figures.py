"""Committed figures in one column of a page: each is read, in grey too, and fits on the page."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.offsetbox import DrawingArea
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.errors import EnvError
from harness.publish.figures import WIDTH_IN, FigureContext, draw, figure_of
from harness.publish.stand_ins import stand_ins
from harness.publish.stored import reference_of
from harness.publish.style import sequential
from harness.registry import load_registry
from harness.store.result import csv_path, load_result
from harness.store.workspace import COMMITTED_PROFILES, Workspace
from tests.checkout import ROOT, some_figures
from tests.latex import needs_latex, set_by_latex

LIBRARY = load_registry()
COMMITTED = Workspace(ROOT)
FIGURES = some_figures(
    [
        pytest.param(task, profile, id=f"{name}-{profile}")
        for name, task in sorted(LIBRARY.tasks.items())
        for profile in COMMITTED_PROFILES
        if csv_path(COMMITTED, task, profile).exists()
    ]
)
NUM_BY_LATEX = 5
"""Of those, so many are set as pgf, a second each."""
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


def given(task: Task, profile: Profile) -> dict[str, Any]:
    """Return what a figure is drawn from."""
    result = load_result(COMMITTED, task, profile)
    assert result is not None
    return {
        "table": result.table,
        "reference": reference_of(LIBRARY, task),
        "profile": profile,
        "stands_in": stand_ins(task, profile, LIBRARY.titles[task.id]),
    }


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
    for legend in legends_of(figure):
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


def legends_of(figure: Figure) -> list[Legend]:
    return [*figure.legends, *(each for ax in figure.axes if (each := ax.get_legend()))]


def keys_of(figure: Figure) -> Iterator[tuple[list[str], list[np.ndarray]]]:
    """Yield the words of each legend, and the ink of its keys, from 0 of white to 1 of black."""
    dpi = figure.dpi
    figure.set_dpi(KEYS_DPI)
    for legend in legends_of(figure):
        renderer = FigureCanvasAgg(figure).get_renderer()
        renderer.clear()
        legend.draw(renderer)
        drawn = np.asarray(renderer.buffer_rgba()) / 255
        ink = (1.0 - drawn[:, :, :3] @ np.array([0.299, 0.587, 0.114])) * drawn[:, :, 3]
        boxes = [each.get_window_extent() for each in legend.findobj(DrawingArea)]
        # All of one size, whatever is rounded.
        wide, tall = round(boxes[0].width), round(boxes[0].height)
        places = [(round(len(ink) - box.y1), round(box.x0)) for box in boxes]
        keys = [ink[top : top + tall, left : left + wide] for top, left in places]
        yield [text.get_text() for text in legend.get_texts()], keys
    figure.set_dpi(dpi)


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Return which share of the ink of two keys is not common to both, best laid on each other."""
    shifts = itertools.product((-1, 0, 1), (-1, 0, 1))
    least = min(float(np.abs(one - np.roll(other, by, axis=(0, 1))).sum()) for by in shifts)
    return least / max(float(one.sum()), float(other.sum()))


def of_one_look(figure: Figure) -> list[str]:
    """Return the ordered series of a legend that shade alone tells apart."""
    shades, found = {shade for count in range(2, 20) for shade in sequential(count)}, []
    for legend in legends_of(figure):
        looks: dict[tuple[object, ...], str] = {}
        for key, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            if isinstance(key, Line2D) and key.get_color() in shades:
                look = (key.get_marker(), key.get_linestyle(), key.get_linewidth())
                other = looks.setdefault(look, text.get_text())
                found += [f"{other} and {text.get_text()}"] if other != text.get_text() else []
    return found


@pytest.mark.parametrize("task", ["asymvalley/fig11", "asymvalley/fig27", "supar/fig05"])
def test_shade_is_not_all_that_tells_ordered_series_apart(task: str) -> None:
    one = LIBRARY.one(task)
    assert one.draw is not None
    look = given(one, "cpu")
    del look["stands_in"]
    assert not of_one_look(one.draw(FigureContext(**look, width_in=WIDTH_IN["single"])))


@pytest.mark.parametrize(("task", "profile"), FIGURES)
def test_words_in_a_column_neither_meet_nor_leave_the_page(task: Task, profile: Profile) -> None:
    figure = figure_of(task, **given(task, profile), width="3.3in", stamp=False)
    assert figure.get_figwidth() == 3.3
    assert faults_of(figure) == []
    told = [text.get_text() for text in figure.findobj(Text)]
    assert [said for said in told if re.search(rf"{task.id}|profile ", said)] == []


DOCUMENT = r"""\documentclass{article}
\usepackage{pgf}
\begin{document}
%s
\end{document}
"""


def has_image(task: Task, look: dict[str, Any]) -> bool:
    return any(ax.images for ax in figure_of(task, **look).axes)


@pytest.mark.tools
def test_pgf_of_any_figure_without_an_image_is_set_by_latex(tmp_path: Path) -> None:
    needs_latex("pgf.sty")
    looks = ((each.values[0], given(*each.values)) for each in FIGURES)  # type: ignore[arg-type]
    drawn = ((task, look) for task, look in looks if not has_image(task, look))
    chosen = list(itertools.islice(drawn, NUM_BY_LATEX))
    assert len(chosen) == NUM_BY_LATEX
    for number, (task, look) in enumerate(chosen):
        (tmp_path / f"{number}.pgf").write_bytes(draw(task, fmt="pgf", width="3.3in", **look))
    names = [rf"\input{{{number}.pgf}}" for number in range(len(chosen))]
    log = set_by_latex(DOCUMENT % "\n\\clearpage\n".join(names), tmp_path)
    assert "Missing character" not in log
    (pages,) = re.findall(r"\((\d+) pages", log)
    assert int(pages) >= len(chosen)


@pytest.mark.tools
def test_an_image_cannot_be_pgf_and_the_error_says_what_to_take() -> None:
    """A stream has no room for it: it would be a file beside the document."""
    needs_latex("pgf.sty")
    task = LIBRARY.tasks["asymvalley/fig10"]
    look = given(task, "cpu")
    assert has_image(task, look)
    with pytest.raises(EnvError, match="take --format pdf"):
        draw(task, fmt="pgf", **look)


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


def test_keys_that_are_alike_in_grey_are_found() -> None:
    figure = Figure(figsize=(3.3, 2.0))
    ax = figure.subplots()
    for color, marker in (("#000000", "o"), ("#000001", "o"), ("#000000", "^")):
        ax.plot([0.0, 1.0], color=color, marker=marker, label=f"{color} {marker}")
    ax.legend()
    figure.draw_without_rendering()
    assert alike(figure) == ["'#000000 o' and '#000001 o' are alike in grey"]
