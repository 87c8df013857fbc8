"""A figure that fits its page: no word leaves it, and no panel is pressed flat."""

from __future__ import annotations

import itertools
import math
import re
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.collections import Collection
from matplotlib.colors import to_rgb, to_rgba_array
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.text import Text

LEAST_PANEL_IN = 0.7
"""A panel that titles and legends press below this height makes the figure higher."""
_GAP_IN = 0.06  # between the words of neighbouring panels, and above the foot
_COLORS = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")


class Page(Figure):
    """A figure whose panels and legends take the columns that its width has room for."""

    moved: Sequence[tuple[Axes, tuple[int, int], tuple[int, int]]] = ()
    """Panels that stand elsewhere than was asked for: row and column asked, and theirs."""

    def name_outer(self) -> None:
        """Name axes where panels now stand: what a row or column shares, once."""
        for name, along, (down, left) in (("xlabel", 1, (1, 0)), ("ylabel", 0, (0, 1))):
            last: dict[int, str] = {}
            names: dict[tuple[int, int], str] = {}
            # Below a column, and at the left of a row.
            for ax, asked, place in self.moved[:: -1 if along else 1]:
                own = getattr(ax, f"get_{name}")()
                last[asked[along]] = names[place] = own or last.get(asked[along], "")
            for ax, _, (row, column) in self.moved:
                is_told = names.get((row + down, column - left)) == names[row, column]
                ax.set(**{name: "" if is_told else names[row, column]})

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
    heights = [ax.get_position().height * figure.get_figheight() for ax in panels]
    heights += [0.0 for each in told if "collapsed" in str(each.message)]
    return rows * (LEAST_PANEL_IN - min(heights, default=LEAST_PANEL_IN))


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
        labels = [label for label in ax.get_xticklabels() if label.get_text()]
        boxes = sorted((label.get_window_extent() for label in labels), key=lambda box: box.x0)
        meet = any(left.x1 > right.x0 for left, right in itertools.pairwise(boxes))
        if meet and not labels[0].get_rotation():
            changed = True
            for label in ax.get_xticklabels():
                label.set(rotation=45, ha="right", rotation_mode="anchor")
    return changed


def recolour(figure: Figure, swaps: Mapping[str, str]) -> None:
    """Give all that has one of some colours another, and the same opacity."""
    found: dict[Any, Any] = {to_rgb(ours): to_rgb(theirs) for ours, theirs in swaps.items()}
    changes: list[
        tuple[Any, Any]
    ] = []  # made last, for the colour of a line may be that of its marks
    for artist, name in itertools.product(figure.findobj(), _COLORS):
        get, put = (getattr(artist, f"{verb}_{name}", None) for verb in ("get", "set"))
        old = get() if get and put else "auto"
        colors = [] if isinstance(old, str) and old == "auto" else to_rgba_array(old).tolist()
        new = [(*found.get((*color[:3],), color[:3]), color[3]) for color in colors]
        if any(tuple(one) != other for one, other in zip(colors, new, strict=True)):
            changes.append((put, new if isinstance(artist, Collection) else new[0]))
    for put, new_color in changes:
        put(new_color)
