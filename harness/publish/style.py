"""House style of figures: seaborn's theme at our size, and settings that keep bytes equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import seaborn
from cycler import cycler
from matplotlib import rcParams, style
from matplotlib.ticker import LogLocator, NullLocator

if TYPE_CHECKING:
    from matplotlib.axis import Axis

Width = Literal["single", "double"]

WIDTH_IN: dict[Width, float] = {"single": 3.3, "double": 5.5}
"""Figure width in inches: one column of a two-column paper; the text width of NeurIPS."""

COLORS = tuple(seaborn.color_palette("colorblind").as_hex()[place] for place in (0, 3, 2, 4, 1, 9))
"""Of series: seaborn's that neither look alike in grey nor vanish on white."""
PALETTE = (*COLORS, "#333333")
"""Those, and a grey that is of no series."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""One per colour, so that no reader depends on colour."""
HATCHES = ("", "/////", "-----", "xxxxx", "\\\\\\\\\\", "|||||")
"""One per colour of bars and areas, which have no marks; of lines, for dots make an SVG large."""

FONT_PT = 7.0  # of plain words


def sizes(font_pt: float) -> dict[str, float]:
    """Return seaborn's sizes of words, lines, ticks and marks where plain words have a size."""
    paper = seaborn.plotting_context("paper", rc={"lines.linewidth": 1.5})
    return {name: value * font_pt / paper["font.size"] for name, value in paper.items()}


RC: dict[str, Any] = {
    **seaborn.axes_style("ticks"),
    **sizes(FONT_PT),
    # DejaVu Sans comes with matplotlib: glyphs do not depend on the machine's fonts.
    "font.family": "DejaVu Sans", "mathtext.fontset": "dejavusans",
    "axes.prop_cycle": cycler(color=COLORS), "image.cmap": "viridis",
    "axes.spines.top": False, "axes.spines.right": False, "axes.formatter.useoffset": False,
    "axes.grid": True, "grid.color": ".87", "legend.frameon": False, "errorbar.capsize": 1.5,
    "patch.force_edgecolor": False, "hatch.color": "white", "hatch.linewidth": 0.5,
    # Without a salt every draw invents new ids for clip paths and markers.
    "svg.hashsalt": "paper-reproductions", "savefig.dpi": 220,
    "pdf.fonttype": 42, "pgf.rcfonts": False,
}  # fmt: skip


@contextmanager
def themed(settings: Mapping[str, Any] = RC) -> Iterator[None]:
    """Draw with these settings alone: those of whoever draws must not show."""
    with style.context(["default", dict(settings)]):
        yield


def points(size: float) -> float:
    """Return a size of words, in points beside FONT_PT, in proportion to the style's own."""
    return size * float(rcParams["font.size"]) / FONT_PT


def sequential(count: int) -> tuple[str, ...]:
    """Return `count` colours for an ordered series (densities), from dark to light."""
    # Of the style's colour map (viridis), without its end, which vanishes on white.
    return tuple(seaborn.color_palette(rcParams["image.cmap"], count + count // 4).as_hex()[:count])


def log_numbers(axis: Axis, numbers: str = "{x:g}") -> None:
    """Scale an axis by the logarithm, with plain numbers; call it when all is drawn."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})  # type: ignore[attr-defined]
    low, high = axis.get_view_interval()
    subs = (1.0, 2.0, 5.0) if high > 5 * low else (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
    axis.set_major_locator(LogLocator(subs=(1.0,) if high > 4e3 * low else subs, numticks=99))
    axis.set_major_formatter(numbers)
    axis.set_minor_locator(NullLocator())
