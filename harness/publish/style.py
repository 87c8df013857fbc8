"""House style of figures: sizes, colours, marks, and the settings that keep bytes equal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axis import Axis

Width = Literal["single", "double"]

WIDTH_IN: dict[Width, float] = {"single": 3.3, "double": 5.5}
"""Figure width in inches: one column of a two-column paper; the text width of NeurIPS."""

STRIP_IN = 0.16
"""Height of the strip at the bottom that names task and profile, in one line."""

LINE_IN = 0.1
"""Height of each further line of it."""

LETTERS_PER_IN = 18
"""Letters of it that fit in an inch; wide ones, for a line must not leave the figure."""

# A value may hold a dollar sign.
STAMP: dict[str, Any] = {"fontsize": 6.0, "color": "#555555", "parse_math": False}

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333")
"""Okabe and Ito's colours, told apart with every common colour blindness; without its yellow,
which vanishes on white."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""One per colour, so that no reader depends on colour."""

HATCHES = ("", "/////", "-----", "xxxxx", "\\\\\\\\\\", "|||||")
"""One per colour of bars and areas, which have no marks; of lines, for dots make an SVG large."""

RASTERISE_ABOVE = 2000
"""More points than this in one series become pixels, or an SVG outgrows its limit."""

MAX_SVG_BYTES = 300_000
"""Largest figure that is committed."""

TEX_SIGNS = {"\u03bc": r"\mu", "\u03c1": r"\rho", "\u0394": r"\Delta", "\u2207": r"\nabla"}
"""Signs of figures and tables that not every LaTeX knows as text, by their names in mathematics."""

ORDERED = "viridis"
"""The colour map of ordered series, where no other is asked for."""

LEAST_PANEL_IN = 0.7
"""A panel that titles and legends press below this height makes the figure higher."""

RC: dict[str, Any] = {
    # DejaVu Sans comes with matplotlib: glyphs do not depend on the machine's fonts.
    "font.family": "DejaVu Sans",
    "font.size": 7.0,
    "mathtext.fontset": "dejavusans",
    "axes.titlesize": 7.5,
    "axes.labelsize": 7.0,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.6,
    "errorbar.capsize": 1.5,
    "figure.dpi": 100,
    "savefig.dpi": 220,
    "savefig.facecolor": "white",
    # Without a salt every draw invents new ids for clip paths and markers.
    "svg.hashsalt": "paper-reproductions",
    # Text as outlines: it looks the same wherever the file is opened.
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "pdf.compression": 6,
    "pgf.rcfonts": False,
    "image.cmap": ORDERED,
    "hatch.color": "white",
    "hatch.linewidth": 0.5,
}


def points(size: float) -> float:
    """Return a size of words that stands beside ours in the same proportion whatever the style.

    size: in points, where words have the size of RC.
    """
    from matplotlib import rcParams

    return size * float(rcParams["font.size"]) / float(RC["font.size"])


def sequential(count: int) -> tuple[str, ...]:
    """Return `count` colours for an ordered series (densities), from dark to light.

    Taken from the style's colour map (viridis) without its last quarter, which vanishes on white.
    """
    from matplotlib import colormaps, rcParams
    from matplotlib.colors import to_hex

    steps = [0.78 * index / max(count - 1, 1) for index in range(count)]
    return tuple(to_hex(colormaps[rcParams["image.cmap"]](step)) for step in steps)


def log_numbers(axis: Axis, numbers: str = "{x:g}") -> None:
    """Scale an axis by the logarithm, with plain numbers at 1, 2, 5 of every decade of a few.

    Call it when all is drawn: of less than half a decade more numbers are shown.
    """
    from matplotlib.ticker import LogLocator, NullLocator

    name = axis.axis_name  # type: ignore[attr-defined]  # its stubs lack it
    axis.axes.set(**{f"{name}scale": "log"})
    low, high = axis.get_view_interval()
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    shown = [k for k in (1, 2, 5) for e in exponents if low <= k * 10.0**e <= high]
    # One number alone tells no scale.
    subs = (1.0, 2.0, 5.0) if len(shown) > 1 else (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
    # Of more decades than numbers it has room for, a locator shows none but the powers.
    axis.set_major_locator(LogLocator(subs=subs if high < 4e3 * low else (1.0,), numticks=99))
    axis.set_major_formatter(numbers)
    axis.set_minor_locator(NullLocator())
