"""Draw a task's figure: a pure function from rows to a Figure, and from it to stable bytes.

Nothing here touches pyplot: no global figure, no global style.
"""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Unpack

from pandas.api.types import is_numeric_dtype

from harness.declare.profiles import Profile
from harness.declare.reference import standings
from harness.declare.statistics import aggregate
from harness.declare.table import counted_seeds
from harness.declare.task import Task
from harness.errors import EnvError, SpecError, UsageError
from harness.publish.looks import COLORS, Look, Options, look_of, tex_settings
from harness.publish.stand_ins import ran_on
from harness.publish.style import (
    HATCHES,
    MARKERS,
    MAX_SVG_BYTES,
    PALETTE,
    RASTERISE_ABOVE,
    STRIP_IN,
    TEX_SIGNS,
    WIDTH_IN,
    Width,
    log_numbers,
    points,
    sequential,
)

try:
    from matplotlib import style as mpl_style
    from matplotlib.backend_bases import get_registered_canvas_class

    from harness.publish.page import Page, fit, foot_in, recolour, stamp
except (OSError, ValueError) as error:
    # It reads the user's settings when it is imported, though nothing here uses them.
    raise EnvError(
        f"matplotlib does not start ({str(error).partition(';')[0][:200]}): correct or unset"
        " MPLBACKEND, and correct or move away the file matplotlibrc"
    ) from error

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "Format", "Width", "FigureContext", "draw", "figure_of", "plot_ours", "plot_paper",
    "HATCHES", "PALETTE", "MARKERS", "WIDTH_IN", "log_numbers", "points", "sequential",
]  # fmt: skip

Format = Literal["svg", "png", "pdf", "pgf"]
FORMATS: tuple[Format, ...] = ("svg", "png", "pdf", "pgf")

# What each format would otherwise stamp with a date or a version.
_STAMPS: dict[Format, dict[str, Any]] = {
    "svg": {"metadata": {"Date": None, "Creator": None}},
    "png": {"metadata": {"Software": None}},
    "pdf": {"metadata": {"CreationDate": None, "Creator": None, "Producer": None}},
}
# What matplotlib would have a document say before it includes a figure.
_OF_DOCUMENT = r"""\providecommand{\mathdefault}[1]{#1}%
\catcode`\_=\active\def_{\ifmmode\sb\else\textunderscore\fi}%
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class FigureContext:
    """What a task's figure is made from."""

    table: pd.DataFrame
    """The task's table, one row per grid point and seed."""
    reference: pd.DataFrame
    """The paper's rows for this task, as `load_reference` gives them.

    Empty where none are known and where a reader asks for ours alone: what shows them is then
    not drawn, a panel of theirs no more than an entry of the legend.
    """
    profile: Profile
    width: Width
    """The layout: of one column or of two."""
    inches: float | None = None
    """Width of the figure; by default that of the layout."""

    @property
    def width_in(self) -> float:
        """Return the figure's width in inches."""
        return self.inches or WIDTH_IN[self.width]

    def subplots(
        self,
        nrows: int = 1,
        ncols: int = 1,
        *,
        aspect: float = 0.75,
        sharex: bool = False,
        sharey: bool = False,
        skip: Collection[int] = (),
        turn: bool = True,
    ) -> tuple[Figure, list[Axes]]:
        """Return a figure of the asked width with nrows * ncols panels, row by row.

        aspect: height over width of a panel. At single width at most two panels stand side by
        side: two rows of more become two columns, so that what stood below one another stands
        side by side, and other panels flow into further rows, in the same order.
        skip: places, counted row by row, without a panel; where panels flow they close up.
        turn: False where panels are of different kinds, and their order is all there is.
        """
        columns = min(ncols, 2) if self.width == "single" else ncols
        turned = turn and nrows == 2 and columns < ncols
        flowed = columns < ncols and not turned
        rows = [place // ncols for place in range(nrows * ncols) if place not in skip]
        if flowed:
            nrows, ncols = math.ceil(len(rows) / columns), columns
            skip = range(len(rows), nrows * ncols)
        lines = ncols if turned else nrows
        height = self.width_in / columns * aspect * lines + STRIP_IN
        figure = Page(figsize=(self.width_in, height), layout="constrained")
        axes = figure.panels(nrows, ncols, skip=skip, turned=turned, sharex=sharex, sharey=sharey)
        figure.asked = dict(zip(axes, rows, strict=True)) if flowed else {}
        return figure, axes


def plot_ours(
    ax: Axes,
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    label: str,
    color: str,
    marker: str = "o",
    style: str = "-",
) -> None:
    """Draw our rows: mean over seeds with its standard error, filled marks, solid line.

    Rows without a value (a diverged loss) leave a gap in no line: their point is left out.
    """
    points = aggregate(frame, by=[x], value=y).dropna(subset=["mean"]).sort_values(x)
    if points.empty:
        return
    bars = _plain(points["sem"]) if (points["sem"] > 0).any() else None
    ax.errorbar(
        _plain(points[x]),
        _plain(points["mean"]),
        yerr=bars,
        label=label,
        color=color,
        marker=marker,
        linestyle=style,
        elinewidth=0.8,
        rasterized=len(points) > RASTERISE_ABOVE,
    )


def plot_paper(
    ax: Axes,
    frame: pd.DataFrame,
    *,
    x: str = "x",
    y: str = "value",
    label: str,
    color: str,
    marker: str = "o",
) -> None:
    """Draw reference rows: hollow marks, dashed line, reading error where one is known.

    label: the series' name. What the rows stand as (paper, early version, third party,
    derived) is added unless the label says so already: no early version passes as the paper.
    """
    points = frame.dropna(subset=[x, y]).sort_values(x)
    if points.empty:
        return
    stands = standings(points["status"])
    errors = points["abs_err"].fillna(0.0).to_numpy()
    ax.errorbar(
        points[x].to_numpy(),
        points[y].to_numpy(),
        yerr=errors if (errors > 0).any() else None,
        label=label if stands in label else f"{label}, {stands}",
        color=color,
        marker=marker,
        markerfacecolor="white",
        linestyle="--",
        linewidth=0.9,
        elinewidth=0.6,
        rasterized=len(points) > RASTERISE_ABOVE,
    )


def _plain(column: pd.Series) -> np.ndarray:
    # Nullable columns become arrays of objects, which matplotlib cannot scale.
    return column.to_numpy(dtype="float64" if is_numeric_dtype(column) else None)


def draw(
    task: Task,
    *,
    table: pd.DataFrame,
    reference: pd.DataFrame,
    profile: Profile,
    fmt: Format = "svg",
    stands_in: Mapping[str, str] | None = None,
    aside: str = "",
    **options: Unpack[Options],
) -> bytes:
    """Draw a task's figure; equal rows give equal bytes, in any process.

    stands_in: by a name of the paper what was run in its place, for the foot of the figure; aside:
    what sets the table apart from the committed one, for the same; options: see `Options`.
    Raises SpecError if the task has no figure or its SVG is too large to commit, UsageError for
    a look that is not known, EnvError for what needs LaTeX where there is none.
    """
    look = look_of(**options)
    if fmt == "pgf":
        if options.get("font"):
            raise UsageError("pgf takes the font of its document: leave --font out")
        look.settings.update(tex_settings(look.settings.get("pgf.preamble", "")))
    foot = _foot(task, table, profile, stands_in or {}, aside if look.stamp else None)
    context = _context(look, table, reference, profile)
    with _styled(look):
        figure = _built(task, context, look, foot, fmt)
        data = _as_pgf(figure, task) if fmt == "pgf" else saved(figure, fmt)
    if fmt == "svg" and len(data) > MAX_SVG_BYTES:
        raise SpecError(
            f"the figure of {task.id} takes {len(data)} bytes as SVG, at most {MAX_SVG_BYTES} are"
            " committed: draw its dense points with rasterized=True"
        )
    return data


def figure_of(
    task: Task,
    *,
    table: pd.DataFrame,
    reference: pd.DataFrame,
    profile: Profile,
    stands_in: Mapping[str, str] | None = None,
    aside: str = "",
    **options: Unpack[Options],
) -> Figure:
    """Return a task's figure as matplotlib's own, to be changed and saved by its caller.

    Arguments as for `draw`; it raises the same. The layout stays live: a longer title moves the
    panels.
    """
    look = look_of(**options)
    foot = _foot(task, table, profile, stands_in or {}, aside if look.stamp else None)
    context = _context(look, table, reference, profile)
    with _styled(look):
        figure = _built(task, context, look, foot, "png")
        # Ticks take their sizes from the settings when they are first drawn.
        figure.draw_without_rendering()
    return figure


def _context(
    look: Look, table: pd.DataFrame, reference: pd.DataFrame, profile: Profile
) -> FigureContext:
    return FigureContext(
        table=table,
        reference=reference.iloc[:0] if look.ours_only else reference,
        profile=profile,
        width=look.column,
        inches=look.width_in,
    )


@contextmanager
def _styled(look: Look) -> Iterator[None]:
    """Draw with a look's settings. Raises EnvError where LaTeX is wanted and does not answer."""
    # From matplotlib's defaults: the settings of whoever draws must not show.
    with mpl_style.context(["default", look.settings]):
        try:
            yield
        except RuntimeError as error:
            if not look.settings.get("text.usetex"):
                raise
            told = " ".join(str(error).split())[:200]
            raise EnvError(
                f"the style asks for LaTeX ({told}): install TeX Live, or leave text.usetex out"
            ) from error


def _built(task: Task, context: FigureContext, look: Look, foot: str, fmt: Format) -> Figure:
    """Return a task's figure, laid out on its page for a format."""
    draw_figure = task.draw
    if draw_figure is None:
        raise SpecError(f"task {task.id} declares no figure: ask for its table instead")
    figure: Figure = draw_figure(context)
    if isinstance(figure, Page):
        figure.name_outer()
    swaps = dict(zip(COLORS, itertools.cycle(look.colors), strict=False)) if look.colors else {}
    is_shown = recolour(figure, swaps) or look.settings["image.cmap"] == look.palette
    if look.palette and not is_shown:
        raise UsageError(
            f"{task.id} has no series whose colours --palette {look.palette} would replace: name"
            " one for ordered series, such as magma, or leave it out"
        )
    added_in = foot_in(figure, foot)
    if look.height_in is not None:
        figure.set_figheight(max(look.height_in - added_in, STRIP_IN))
    # Sizes of words are those of the format's own renderer.
    get_registered_canvas_class(fmt)(figure)
    fit(figure)
    stamp(figure, foot)
    needed_in = figure.get_figheight()
    if look.height_in is not None and needed_in > look.height_in + 1e-6:
        raise UsageError(
            f"a height of {look.height_in:.3g} inches presses the panels of {task.id} flat at this"
            f" width: say at least {math.ceil(10 * needed_in) / 10:.1f}in, or leave --height out"
        )
    return figure


def saved(figure: Figure, fmt: Format) -> bytes:
    _settle(figure, fmt)
    stream = io.BytesIO()
    figure.savefig(stream, format=fmt, **_STAMPS.get(fmt, {}))
    return stream.getvalue()


def _as_pgf(figure: Figure, task: Task) -> bytes:
    """Return a figure as TeX that documents of any LaTeX can include.

    Raises EnvError where LaTeX cannot set its words, or it holds an image.
    """
    from matplotlib.backends.backend_pgf import LatexError

    # A PGF stream cannot hold an image; it would need a file of its own beside it.
    for artist in figure.findobj():
        artist.set_rasterized(False)
    try:
        text = saved(figure, "pgf").decode()
    except (LatexError, ValueError) as error:  # of LaTeX itself, or of one text
        told = next((line for line in str(error).splitlines() if line.startswith("!")), str(error))
        raise EnvError(
            f"{task.id} cannot be written as pgf ({told[:200]}): take --format pdf"
        ) from error
    head, begin, body = text.partition("\\begingroup%\n")
    text = head + begin + _OF_DOCUMENT + body
    for sign, name in TEX_SIGNS.items():
        text = text.replace(sign, rf"\ensuremath{{{name}}}")
    return text.encode()


def _foot(
    task: Task,
    table: pd.DataFrame,
    profile: Profile,
    stands_in: Mapping[str, str],
    aside: str | None,
) -> str:
    """Say what a figure shows, over how many seeds of what, and what was run for what.

    aside: what sets it apart from the committed one; None leaves out all but what was run for
    what, without which a number would pass for another's.
    """
    here = f"ran on {ran_on(stands_in)}" if stands_in else ""
    if aside is None:
        return here
    has_seeds = task.table.seed and task.draws_seeds
    count = int(table[task.table.seed].nunique()) if has_seeds else 0
    seeds = counted_seeds(count, task.table.seed_unit) if count else ""
    return "; ".join(filter(None, [f"{task.id}, profile {profile}", seeds, here, aside]))


def _settle(figure: Figure, fmt: Format) -> None:
    """Lay the panels out, once and for all, at places rounded to a millionth of the figure.

    The solver behind the layout may take its constraints in another order in another process;
    its last digits then differ, and SVG names clip paths after a hash of all digits.
    """
    # Sizes of words are those of the format's own renderer.
    get_registered_canvas_class(fmt)(figure)
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    figure.set_layout_engine(None)
    for ax in figure.axes:
        left, bottom, width, height = ax.get_position(original=True).bounds
        ax.set_position((round(left, 6), round(bottom, 6), round(width, 6), round(height, 6)))
