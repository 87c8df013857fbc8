"""A figure that fits its page: no word leaves it, and no panel is pressed flat."""

from __future__ import annotations

import itertools
import math
import re
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.artist import setp
from matplotlib.collections import Collection
from matplotlib.colors import to_rgb, to_rgba_array
from matplotlib.figure import Figure
from seaborn.utils import axis_ticklabels_overlap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.text import Text

LEAST_PANEL_IN = 0.7
"""A panel that titles and legends press below this makes the figure higher; few rows have more."""
_GAP_IN = 0.06  # between the words of neighbouring panels, and above the foot
_COLORS = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")


class Page(Figure):
    """A figure whose panels and legends take the columns that its width has room for."""

    moved: Sequence[tuple[Axes, tuple[int, int], tuple[int, int]]] = ()
    """Panels that stand elsewhere than was asked for: row and column asked, and theirs."""

    def name_outer(self) -> None:
        """Name axes where panels now stand: x wherever it has numbers, what a row shares once."""
        for name, along, order in (("xlabel", 1, -1), ("ylabel", 0, 1)):
            last: dict[int, str] = {}
            # They were named below a column, and at the left of a row.
            for ax, asked, _ in self.moved[::order]:
                last[asked[along]] = getattr(ax, f"get_{name}")() or last.get(asked[along], "")
                ax.set(**{name: last[asked[along]]})
        panels = {place: ax for ax, _, place in self.moved}
        for (row, _), ax in panels.items():
            if not ax.xaxis.get_tick_params().get("labelbottom", True):
                ax.set_xlabel("")
            first = panels.get((row, 0), ax)
            if first is not ax and first.get_ylabel() == ax.get_ylabel():
                ax.set_ylabel("")

    def legend(self, *args: Any, **options: Any) -> Legend:
        """Make a legend, with fewer columns where it would be wider than the figure."""
        columns = options.get("ncols", 1)
        while True:
            made = super().legend(*args, **{**options, "ncols": columns})
            _break(made.get_title(), self.bbox.width - 2 * _GAP_IN * self.dpi, across=0)
            # Nobody sees the padding beside the words.
            if columns == 1 or made.get_window_extent().width <= self.bbox.width + 0.07 * self.dpi:
                return made
            made.remove()
            # As few as fill one row more.
            count = len(made.get_texts())
            columns = min(columns - 1, math.ceil(count / (math.ceil(count / columns) + 1)))


def stamp(figure: Figure, text: str) -> None:
    """Write what the figure shows below its panels, which keep their size: the figure grows."""
    # Of so many letters to an inch even wide ones do not leave the figure.
    if lines := textwrap.wrap(text, int(18 * figure.get_figwidth())):
        look = {"fontsize": 6.0, "color": "#555555", "parse_math": False}  # it may hold a $
        figure.supxlabel("\n".join(lines), x=0.995, ha="right", **look)
        figure.set_figheight(figure.get_figheight() + 0.1 * len(lines) + _GAP_IN)


def fit(figure: Figure) -> None:
    """Make a figure as high as its panels need, then break and turn words that meet others."""
    for _ in range(6):
        missing_in = _lay_out(figure)
        if missing_in > 0.1:
            # Rounded, for a solver's last digits are not those of another process.
            figure.set_figheight(round(figure.get_figheight() + missing_in, 6))
        elif not _break_words(figure) | _turn_ticks(figure):
            break


def _lay_out(figure: Figure) -> float:
    """Place the panels; return by how many inches the figure is too low for them."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        if engine := figure.get_layout_engine():
            engine.execute(figure)
    panels = [ax for ax in _panels(figure) if ax.get_aspect() == "auto" and ax.axison]
    rows = max((ax.get_subplotspec().get_gridspec().nrows for ax in panels), default=1)
    least = max(LEAST_PANEL_IN, 0.5 + 0.7 / rows)
    missing = [least for each in told if "collapsed" in str(each.message)]
    for ax in panels:
        names = [each.get_window_extent().height for each in _shown(ax.get_yticklabels())]
        needs, has = 1.15 * sum(names), ax.get_window_extent().height
        missing.append(max(least, needs / figure.dpi) - has / figure.dpi)
    return rows * max(missing, default=0.0)


def _panels(figure: Figure) -> list[Any]:
    """Return the axes that stand in a grid: no bar of colours, no second axis of another."""
    return [ax for ax in figure.axes if ax.get_subplotspec() is not None and ax.get_visible()]


def _break_words(figure: Figure) -> bool:
    """Break titles and labels into lines that fit beside their neighbours'; say whether any."""
    boxes = {ax: ax.get_window_extent().get_points() for ax in _panels(figure)}
    changed = False
    for (ax, own), across in itertools.product(boxes.items(), (0, 1)):
        end, centre, other = figure.bbox.size[across], own[:, across].mean(), own[:, 1 - across]
        spans = [(box[:, across].mean(), *box[:, 1 - across]) for box in boxes.values()]
        gaps = [abs(at - centre) for at, low, high in spans if low < other[1] and other[0] < high]
        # A second axis of a panel has its place, not a place beside it.
        room = min([*(gap for gap in gaps if gap > 1.0), 2 * centre, 2 * (end - centre)])
        for text in (ax.yaxis.label,) if across else (ax.title, ax.xaxis.label):
            changed |= _break(text, room - _GAP_IN * figure.dpi, across=across)
    return changed


def _break(text: Text, room: float, *, across: int) -> bool:
    """Break a text that takes more pixels than its room at spaces outside of its formulas."""
    whole, takes = text.get_text(), text.get_window_extent().size[across]
    if not whole or takes <= room:
        return False
    letters = max(int(room / takes * max(map(len, whole.splitlines()))), 1)
    kept = re.sub(r"\$[^$]*\$", lambda found: found[0].replace(" ", "\0"), " ".join(whole.split()))
    lines = textwrap.wrap(kept, letters, break_long_words=False, break_on_hyphens=False)
    text.set_text("\n".join(lines).replace("\0", " "))
    return text.get_text() != whole


def _turn_ticks(figure: Figure) -> bool:
    """Turn what stands below the marks of a panel where two meet; say whether any."""
    changed = False
    for ax in (each for each in _panels(figure) if each.axison):
        labels = _shown(ax.get_xticklabels())
        if axis_ticklabels_overlap(labels) and not labels[0].get_rotation():
            changed = True
            setp(ax.get_xticklabels(), rotation=45, ha="right", rotation_mode="anchor")
    return changed


def _shown(labels: Sequence[Text]) -> list[Text]:
    return [label for label in labels if label.get_text() and label.get_visible()]


def recolour(figure: Figure, swaps: Mapping[str, str]) -> None:
    """Give all that has one of some colours another, and the same opacity."""
    found: dict[Any, Any] = {to_rgb(ours): to_rgb(theirs) for ours, theirs in swaps.items()}
    # Made last, for the colour of a line may be that of its marks.
    changes: list[tuple[Any, Any]] = []
    for artist, name in itertools.product(figure.findobj(), _COLORS):
        get, put = (getattr(artist, f"{verb}_{name}", None) for verb in ("get", "set"))
        old = get() if get and put else "auto"
        colors = [] if isinstance(old, str) and old == "auto" else to_rgba_array(old).tolist()
        new = [(*found.get((*color[:3],), color[:3]), color[3]) for color in colors]
        if any(tuple(one) != other for one, other in zip(colors, new, strict=True)):
            changes.append((put, new if isinstance(artist, Collection) else new[0]))
    for put, new_color in changes:
        put(new_color)
