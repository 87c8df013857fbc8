"""What the figures of this paper share: colours and marks of schemes, axes, legends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator

from harness.publish.figures import MARKERS, PALETTE
from reproductions.supar.models.schemes import LABELS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = dict(zip(LABELS, PALETTE, strict=False))
MARKS = dict(zip(LABELS, MARKERS, strict=False))


def scheme_legend(figure: Figure, schemes: Iterable[str], *, also: Sequence[Line2D] = ()) -> None:
    """Name the schemes above all panels, and what else is drawn."""
    handles = [
        Line2D([], [], color=COLORS[scheme], marker=MARKS[scheme], label=LABELS[scheme])
        for scheme in schemes
    ]
    handles += also
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))


def density_axis(ax: Axes) -> None:
    """Make the horizontal axis one of densities, as fractions."""
    ax.set_xscale("log", base=2)
    ax.set_xlabel("density")
    ax.xaxis.set_major_locator(LogLocator(base=4, numticks=9))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: fraction(x)))


def fraction(density: float) -> str:
    """Return 1/16 for 0.0625; densities of the grids are inverse powers of two."""
    inverse = 1.0 / density
    return "1" if inverse == 1.0 else f"1/{inverse:g}"
