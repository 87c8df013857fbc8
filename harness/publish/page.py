"""A figure that fits its page: no word leaves it, and no panel is pressed flat."""

from __future__ import annotations

import itertools
import math
import re
import textwrap
import warnings
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator

from harness.publish.style import (
    LEAST_PANEL_IN,
    LETTERS_PER_IN,
    LINE_IN,
    STAMP,
    STRIP_IN,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.text import Text
    from matplotlib.transforms import BboxBase

_ROUNDS = 6
_SLACK_IN = 0.1
_GAP_IN = 0.06
"""Left free between the words of neighbouring panels."""
_NUMBER = re.compile(r"[-\u2212]?[\d.,/]+|\$.*\$")
_COLORS = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")


class Page(Figure):
    """A figure whose legends take the columns that its width has room for."""

    _lines: tuple[list[Axes], ...] = ()
    """Where rows became columns: the rows that were asked for."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.asked: dict[Axes, int] = {}
        """Where panels flow, two in a row: the longer row that each was asked for in."""

    def panels(
        self,
        nrows: int,
        ncols: int,
        *,
        sharex: bool,
        sharey: bool,
        skip: Collection[int],
        turned: bool,
    ) -> list[Axes]:
        """Make panels in a grid and return them row by row, without the places to skip.

        turned: rows become columns, in the figure and not in what is returned.
        """
        rows, columns = (ncols, nrows) if turned else (nrows, ncols)
        grid = self.subplots(rows, columns, sharex=sharex, sharey=sharey, squeeze=False)
        asked = grid.T if turned else grid
        for row, column in (divmod(place, ncols) for place in skip):
            low, right = (column, row) if turned else (row, column)
            if low:
                grid[low - 1, right].tick_params(labelbottom=True)
            asked[row, column].remove()
        kept = [
            [ax for column, ax in enumerate(line) if row * ncols + column not in skip]
            for row, line in enumerate(asked)
        ]
        self._lines = tuple(kept) if turned else ()
        return [ax for line in kept for ax in line]

    def name_outer(self) -> None:
        """Move labels that stood for a row or a column of panels to the edges of the turned ones.

        A name of the vertical axis is that of the panels in its row that have the same range.
        """
        self._name_flowed()
        for line in self._lines:
            name, span = line[0].get_ylabel(), line[0].get_ylim()
            if name and not any(ax.get_ylabel() for ax in line[1:]):
                for ax in line[1:]:
                    ax.set_ylabel(name if ax.get_ylim() == span else "")
        left, *others = self._lines or ([],)
        for line in others:
            for ax, beside in zip(line, left, strict=False):
                ax.set_ylabel("" if ax.get_ylabel() == beside.get_ylabel() else ax.get_ylabel())
        every = [ax for line in self._lines for ax in line]
        names = {ax.get_xlabel() for ax in every} - {""}
        if len(names) == 1 and len({ax.get_xlim() for ax in every}) == 1:
            for ax in every:
                ax.set_xlabel(*names if any(ax is line[-1] for line in self._lines) else ("",))

    def _name_flowed(self) -> None:
        """Name the vertical axis of the first panel in a row, and of the second if it differs."""
        names: dict[Axes, str] = {}
        for _, line in itertools.groupby(self.asked, self.asked.__getitem__):
            name = ""
            for ax in line:
                name = names[ax] = ax.get_ylabel() or name
        pairs = iter(names.items())
        for left, name in pairs:
            left.set_ylabel(name)
            right, its = next(pairs, (left, name))
            right.set_ylabel(its if right is left or its != name else "")

    def legend(self, *args: Any, **options: Any) -> Legend:
        """Make a legend, with fewer columns where it would be wider than the figure."""
        columns = options.get("ncols", 1)
        while True:
            made = super().legend(*args, **{**options, "ncols": columns})
            _broken(made.get_title(), self.bbox.width - 2 * _GAP_IN * self.dpi, upward=False)
            # Nobody sees the padding beside the words.
            if columns == 1 or made.get_window_extent().width <= self.bbox.width + 0.07 * self.dpi:
                return made
            made.remove()
            columns = fewer_columns(columns, count=len(made.get_texts()))


def fewer_columns(columns: int, *, count: int) -> int:
    """Return in how many columns entries stand with a row more: as few as fill the rows.

    >>> fewer_columns(8, count=8), fewer_columns(3, count=9)
    (4, 2)
    """
    rows = math.ceil(count / columns) + 1
    return max(1, min(columns - 1, math.ceil(count / rows)))


def fit(figure: Figure) -> None:
    """Break words that leave their panel's room, then make the figure as high as panels need.

    The strip at the foot is left free. A figure in which everything fits stays as it is.
    """
    for _ in range(_ROUNDS):
        missing = _lay_out(figure)
        if _break_words(figure) or _thin_ticks(figure):
            continue
        if missing > _SLACK_IN:
            # Rounded, for a solver's last digits are not those of another process.
            figure.set_figheight(round(figure.get_figheight() + missing, 6))
        # Last, for they take from the width what they give back in height.
        elif not _break_words(figure, upward=True):
            break
    for ax in _panels(figure):
        # As if it was never laid out: the next time must not depend on this one.
        spec = ax.get_subplotspec()
        if spec is not None:
            ax.set_subplotspec(spec)


def _lay_out(figure: Figure) -> float:
    """Place the panels; return by how many inches the figure is too low for them."""
    engine = figure.get_layout_engine()
    if not isinstance(engine, ConstrainedLayoutEngine):
        return 0.0
    strip = STRIP_IN / figure.get_figheight()
    engine.set(rect=(0.0, strip, 1.0, 1.0 - strip))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        engine.execute(figure)
    panels = [ax for ax in _panels(figure) if ax.get_aspect() == "auto" and ax.axison]
    rows = max((_rows_of(ax) for ax in panels), default=1)
    if any("collapsed" in str(each.message) for each in told):
        return LEAST_PANEL_IN * rows
    heights = [ax.get_position().height * figure.get_figheight() for ax in panels]
    return rows * (LEAST_PANEL_IN - min(heights, default=LEAST_PANEL_IN))


def _panels(figure: Figure) -> list[Axes]:
    """Return the axes that stand in a grid: no bar of colours, no second axis of another."""
    return [ax for ax in figure.axes if ax.get_subplotspec() is not None and ax.get_visible()]


def _rows_of(ax: Axes) -> int:
    spec = ax.get_subplotspec()
    return 1 if spec is None else spec.get_gridspec().nrows


def _break_words(figure: Figure, *, upward: bool = False) -> bool:
    """Break titles and labels into lines that fit beside their neighbours'; say whether any.

    upward: those of the vertical axes in place of the others.
    """
    first, last = ("y0", "y1") if upward else ("x0", "x1")
    end = figure.bbox.height if upward else figure.bbox.width
    boxes = {ax: ax.get_window_extent() for ax in _panels(figure)}
    changed = False
    for ax, box in boxes.items():
        beside = [other for other in boxes.values() if _overlap(box, other, across=not upward)]
        centre = (getattr(box, first) + getattr(box, last)) / 2
        gaps = [abs(centre - (getattr(b, first) + getattr(b, last)) / 2) for b in beside]
        # A second axis of a panel has its place, not a place beside it.
        near = min((gap for gap in gaps if gap > 1.0), default=end)
        room = min(near, 2 * centre, 2 * (end - centre)) - _GAP_IN * figure.dpi
        for text in (ax.yaxis.label,) if upward else (ax.title, ax.xaxis.label):
            changed |= _broken(text, room, upward=upward)
    return changed


def _overlap(one: BboxBase, other: BboxBase, *, across: bool) -> bool:
    if across:
        return one.y0 < other.y1 and other.y0 < one.y1
    return one.x0 < other.x1 and other.x0 < one.x1


def _broken(text: Text, room: float, *, upward: bool) -> bool:
    """Break a text at spaces outside of its formulas, if it takes more pixels than its room.

    upward: room in height, of which a text that lies takes a line.
    """

    def takes(words: str) -> float:
        text.set_text(words)
        box = text.get_window_extent()
        return box.height if upward else box.width

    whole = text.get_text()
    if not whole or takes(whole) <= room:
        return False
    done, current = [], ""
    for word in re.findall(r"(?:\$[^$]*\$|\S)+", whole):
        tried = f"{current} {word}".strip()
        if current and takes(tried) > room:
            done.append(current)
            tried = word
        current = tried
    text.set_text("\n".join([*done, current]))
    return text.get_text() != whole


def _thin_ticks(figure: Figure) -> bool:
    """Turn the names below a panel, or take fewer numbers, where two overlap; say whether any."""
    changed = False
    for ax in _panels(figure):
        shown = _shown_ticks(ax)
        labels = [label for _, label in shown]
        boxes = sorted((label.get_window_extent() for label in labels), key=lambda box: box.x0)
        crowded = any(left.x1 > right.x0 for left, right in itertools.pairwise(boxes))
        if not crowded or not ax.axison or any(label.get_rotation() for label in labels):
            continue
        changed = True
        locator = ax.xaxis.get_major_locator()
        if isinstance(locator, MaxNLocator):
            changed = len(labels) > 3
            locator.set_params(nbins=2)
        elif len(labels) > 2 and all(_NUMBER.fullmatch(label.get_text()) for label in labels):
            # Of numbers a reader needs some; turned they would be as crowded as before.
            kept = _fewer_numbers(shown, log=ax.get_xscale() == "log")
            ax.set_xticks([place for place, _ in kept], [label.get_text() for _, label in kept])
        else:
            names = [label.get_text().replace("\n", " ") for label in ax.get_xticklabels()]
            ax.set_xticks(ax.get_xticks(), names)
            for label in ax.get_xticklabels():
                label.set(rotation=45, ha="right", rotation_mode="anchor")
    return changed


def _shown_ticks(ax: Axes) -> list[tuple[float, Text]]:
    """Return places and labels below a panel; those beyond its ends would widen it if set."""
    low, high = sorted(ax.get_xlim())
    ticks = zip(ax.get_xticks(), ax.get_xticklabels(), strict=False)
    return [(at, label) for at, label in ticks if label.get_text() and low <= at <= high]


def _fewer_numbers(ticks: list[tuple[float, Text]], *, log: bool) -> list[tuple[float, Text]]:
    """Return the powers of ten where they are some of the numbers, or every second number."""
    powers = [(at, label) for at, label in ticks if log and math.log10(at).is_integer()]
    return powers if 1 < len(powers) < len(ticks) else ticks[::2]


def foot_in(figure: Figure, text: str) -> float:
    """Return by how many inches a text at the foot changes the height of a page."""
    lines = _lines_of(figure, text)
    return (len(lines) - 1) * LINE_IN if lines else -STRIP_IN


def _lines_of(figure: Figure, text: str) -> list[str]:
    return textwrap.wrap(text, int(figure.get_figwidth() * LETTERS_PER_IN))


def stamp(figure: Figure, text: str) -> None:
    """Write what the figure shows into a strip of its own at the bottom, a line or more.

    Without a text there is no strip. The figure grows with it: its panels keep their size.
    """
    engine = figure.get_layout_engine()
    further = foot_in(figure, text)
    figure.set_figheight(figure.get_figheight() + further)
    strip = (STRIP_IN + further) / figure.get_figheight()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.set(rect=(0.0, strip, 1.0, 1.0 - strip))
    for place, line in enumerate(reversed(_lines_of(figure, text))):
        height = (STRIP_IN / 4 + place * LINE_IN) / figure.get_figheight()
        figure.text(0.995, height, line, ha="right", va="bottom", **STAMP)


def recolour(figure: Figure, swaps: dict[str, str]) -> bool:
    """Give all that has one of some colours another, and the same opacity; say if anything had."""
    from matplotlib.colors import to_rgb

    found: dict[tuple[float, ...], tuple[float, ...]] = {
        to_rgb(ours): to_rgb(theirs) for ours, theirs in swaps.items()
    }
    return any([_swap(artist, name, found) for artist in figure.findobj() for name in _COLORS])


def _colors_of(artist: Artist, name: str) -> list[tuple[float, ...]]:
    from matplotlib.colors import to_rgba_array

    get, put = getattr(artist, f"get_{name}", None), getattr(artist, f"set_{name}", None)
    if get is None or put is None or (isinstance(get(), str) and get() == "auto"):
        return []
    return [tuple(map(float, color)) for color in to_rgba_array(get())]


def _swap(artist: Artist, name: str, swaps: dict[tuple[float, ...], tuple[float, ...]]) -> bool:
    from matplotlib.collections import Collection as Drawn

    colors = _colors_of(artist, name)
    swapped = [(*swaps.get(color[:3], color[:3]), color[3]) for color in colors]
    if swapped != colors:
        getattr(artist, f"set_{name}")(swapped if isinstance(artist, Drawn) else swapped[0])
    # One that takes matplotlib's own cycle has the others already.
    return swapped != colors or any(color[:3] in swaps.values() for color in colors)
