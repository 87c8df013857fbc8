"""Draw a task's figure: from rows to a Figure that is not pyplot's, and from it to stable bytes."""

from __future__ import annotations

import io
import itertools
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Required, Unpack

import numpy as np

from harness.declare.profiles import Profile
from harness.declare.reference import standings
from harness.declare.table import counted_seeds
from harness.declare.task import Task
from harness.errors import EnvError, SpecError, UsageError, nearest
from harness.publish.report.text import TEX_SIGNS
from harness.publish.stand_ins import ran_on

try:
    import seaborn
    from matplotlib.backend_bases import get_registered_canvas_class
    from matplotlib.transforms import Bbox

    from harness.publish.looks import WIDE_FROM_IN, Options, length_in, settings_of
    from harness.publish.page import Page, fit, recolour, stamp
    from harness.publish.style import (
        HATCHES,
        MARKERS,
        PALETTE,
        WIDTH_IN,
        Width,
        log_numbers,
        points,
        sequential,
        themed,
    )
except (OSError, ValueError) as error:
    # It reads the user's settings when it is imported, though nothing here uses them.
    raise EnvError(
        f"matplotlib does not start ({str(error).partition(';')[0][:200]}): correct or unset"
        " MPLBACKEND, and correct or move away the file matplotlibrc"
    ) from error

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "Format", "Width", "FigureContext", "draw", "figure_of", "plot_ours", "plot_paper", "saved",
    "HATCHES", "PALETTE", "MARKERS", "WIDTH_IN", "log_numbers", "points", "sequential", "themed",
]  # fmt: skip

Format = Literal["svg", "png", "pdf", "pgf"]

RASTERISE_ABOVE = 2000
"""More points than this in one series become pixels, or an SVG outgrows its limit."""
MAX_SVG_BYTES = 300_000  # of a figure that is committed
# What each format would otherwise stamp with a date or a version.
_STAMPS = {"svg": "Date Creator", "png": "Software", "pdf": "CreationDate Creator Producer"}
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
    """The paper's rows for this task; none where a reader asks for ours alone: what shows them is
    then not drawn, a panel of theirs no more than an entry of the legend."""
    profile: Profile
    width_in: float
    """Width of the figure in inches."""

    @property
    def width(self) -> Width:
        """Return the layout: of one column or of two."""
        return "double" if self.width_in >= WIDE_FROM_IN else "single"

    def subplots(
        self, nrows: int = 1, ncols: int = 1, *, aspect: float = 0.75, sharex: bool = False,
        sharey: bool = False, skip: Collection[int] = (), turn: bool = True,
    ) -> tuple[Figure, list[Axes]]:  # fmt: skip
        """Return a figure of the asked width with nrows * ncols panels, row by row.

        aspect: height over width of a panel. At single width at most two stand side by side: two
        rows of more become two columns, and other panels flow into further rows, in their order.
        skip: places, counted row by row, without a panel; where panels flow they close up.
        turn: False where panels are of different kinds, and their order is all there is.
        """
        asked = [divmod(at, ncols) for at in range(nrows * ncols) if at not in skip]
        moves = self.width == "single" and ncols > 2
        places = asked
        if moves and turn and nrows == 2:
            places, nrows, ncols = [(column, row) for row, column in asked], ncols, 2
        elif moves:
            places = [divmod(at, 2) for at in range(len(asked))]
            nrows, ncols = -(-len(asked) // 2), 2
        height = self.width_in / ncols * aspect * nrows
        figure = Page(figsize=(self.width_in, height), layout="constrained")
        grid = figure.subplots(nrows, ncols, sharex=sharex, sharey=sharey, squeeze=False)
        for row, column in {*np.ndindex(nrows, ncols)} - {*places}:
            grid[row, column].remove()
            grid[max(row - 1, 0), column].tick_params(labelbottom=True)
        axes = [grid[place] for place in places]
        figure.moved = [*zip(axes, asked, places, strict=True)] if moves else []
        return figure, axes

    def legend_above(
        self, figure: Figure, axes: Iterable[Axes], columns: int, *, narrow: int = 0
    ) -> None:
        """Say above all panels, once, what the lines of some of them are.

        narrow: columns of the legend at single width, where they are fewer.
        """
        found = {
            label: handle
            for ax in axes
            for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
        }
        if self.width == "single":
            columns = narrow or columns
        figure.legend(found.values(), found.keys(), loc="outside upper center", ncols=columns)


def plot_ours(
    ax: Axes, frame: pd.DataFrame, *, x: str, y: str, label: str, color: str, marker: str = "o",
    style: str = "-", errorbar: str | tuple[str, int] = "se", orient: Literal["x", "y"] = "x",
) -> None:  # fmt: skip
    """Draw our rows: mean over seeds with its standard error, filled marks, solid line.

    errorbar: of seaborn's, such as ("pi", 100) for bars to the extremes. orient: "y" for means of
    x, at places along y. Rows without a value (a diverged loss) are left out, with no gap in the
    line. Raises SpecError on a scale that is not linear, on which seaborn would take another mean.
    """
    if (scale := ax.get_yscale() if orient == "x" else ax.get_xscale()) != "linear":
        raise SpecError(f"{label or y} is drawn on a {scale} scale: set it afterwards")
    rows = frame.dropna(subset=[x, y])
    if rows.empty:
        return
    dense = {"rasterized": rows[x].nunique() > RASTERISE_ABOVE}
    look = {"color": color, "markeredgecolor": color, "marker": marker, "linestyle": style}
    seaborn.lineplot(
        # Columns without names, which would become those of the axes; marks above bars.
        x=rows[x].to_numpy(), y=rows[y].to_numpy(dtype="float64"), label=label, legend=False, ax=ax,
        errorbar=errorbar, err_style="bars", err_kws={"elinewidth": 0.8, **dense}, orient=orient,
        zorder=2.1, **look, **dense,
    )  # fmt: skip


def plot_paper(
    ax: Axes, frame: pd.DataFrame, *, x: str = "x", label: str, color: str, marker: str = "o",
) -> None:  # fmt: skip
    """Draw reference rows: hollow marks, dashed line, reading error where one is known.

    label: the series' name. What the rows stand as (paper, early version, third party,
    derived) is added unless the label says so already: no early version passes as the paper.
    """
    rows = frame.dropna(subset=[x, "value"]).sort_values(x)
    if rows.empty:
        return
    stands = standings(rows["status"])
    errors = rows["abs_err"].fillna(0.0).to_numpy()
    ax.errorbar(
        rows[x].to_numpy(), rows["value"].to_numpy(), yerr=errors if (errors > 0).any() else None,
        label=label if stands in label else f"{label}, {stands}", color=color, marker=marker,
        markerfacecolor="white", linestyle="--", linewidth=0.9, elinewidth=0.6,
    )  # fmt: skip


class Given(Options, total=False):
    """What a figure is drawn from, and how it is to look."""

    table: Required[pd.DataFrame]
    reference: Required[pd.DataFrame]
    profile: Required[Profile]
    stands_in: Mapping[str, str]
    """By a name of the paper what was run in its place, for the foot of the figure."""
    aside: str
    """What sets the table apart from the committed one, for the same."""


def draw(task: Task, *, fmt: Format = "svg", **given: Unpack[Given]) -> bytes:
    """Draw a task's figure; equal rows give equal bytes, in any process.

    Raises SpecError if the task has no figure or its SVG is too large to commit, UsageError for
    a look that is not known, EnvError for what needs LaTeX where there is none.
    """
    with _laid_out(task, fmt, given) as figure:
        data = _as_pgf(figure, task) if fmt == "pgf" else saved(figure, fmt)
    if fmt == "svg" and len(data) > MAX_SVG_BYTES:
        told = f"the figure of {task.id} takes {len(data)} bytes as SVG, over {MAX_SVG_BYTES}"
        raise SpecError(f"{told}: draw its dense points with rasterized=True")
    return data


def figure_of(task: Task, **given: Unpack[Given]) -> Figure:
    """Return a task's figure as matplotlib's own, to be changed and saved by its caller.

    It raises the same as `draw`. The layout stays live: a longer title moves the panels.
    """
    with _laid_out(task, "png", given) as figure:
        # Ticks take their sizes from the settings when they are first drawn.
        figure.draw_without_rendering()
    return figure


@contextmanager
def _laid_out(task: Task, fmt: Format, given: Given) -> Iterator[Figure]:
    """Give a task's figure, laid out on its page for a format, while its settings hold."""
    if task.draw is None:
        raise SpecError(f"task {task.id} declares no figure: ask for its table instead")
    for name in {*given} - {*Given.__annotations__}:
        raise UsageError(f"a figure has no option {name!r}{nearest(name, Given.__annotations__)}")
    settings = settings_of(given, pgf=fmt == "pgf")
    height_in = length_in("height", given["height"]) if given.get("height") else None
    context = FigureContext(
        table=given["table"],
        reference=given["reference"][: 0 if given.get("ours_only") else None],
        profile=given["profile"],
        width_in=length_in("width", given.get("width", "double")),
    )
    with themed(settings):
        figure: Figure = task.draw(context)
        if isinstance(figure, Page):
            figure.name_outer()
        colors = settings["axes.prop_cycle"].by_key().get("color", PALETTE)
        recolour(figure, dict(zip(PALETTE[:-1], itertools.cycle(colors), strict=False)))
        # Sizes of words are those of the format's own renderer.
        get_registered_canvas_class(fmt)(figure)
        stamp(figure, _foot(task, given))
        figure.set_figheight(height_in or figure.get_figheight())
        fit(figure)
        needed_in = figure.get_figheight()
        if height_in is not None and needed_in > height_in + 1e-6:
            raise UsageError(
                f"{height_in:.3g} inches of height press the panels of {task.id} flat: say at"
                f" least {math.ceil(10 * needed_in) / 10:.1f}in, or leave --height out"
            )
        yield figure


def saved(figure: Figure, fmt: Format) -> bytes:
    """Return a figure as a file of a format holds it; its layout is no longer live."""
    get_registered_canvas_class(fmt)(figure)
    if engine := figure.get_layout_engine():
        engine.execute(figure)
    figure.set_layout_engine(None)
    # In another process the solver of the layout may take its constraints in another order: its
    # last digits then differ, and SVG names clip paths after a hash of all digits.
    for ax in figure.axes:
        ax.set_position(Bbox(ax.get_position(original=True).get_points().round(6)))
    stream = io.BytesIO()
    blank: dict[str, Any] = (
        {"metadata": dict.fromkeys(_STAMPS[fmt].split())} if fmt in _STAMPS else {}
    )
    figure.savefig(stream, format=fmt, **blank)
    return stream.getvalue()


def _as_pgf(figure: Figure, task: Task) -> bytes:
    """Return a figure as TeX for any document. Raises EnvError where LaTeX cannot set its words."""
    from matplotlib.backends.backend_pgf import LatexError

    # A PGF stream cannot hold an image; it would need a file of its own beside it.
    for artist in figure.findobj():
        artist.set_rasterized(False)
    try:
        text = saved(figure, "pgf").decode()
    except (LatexError, ValueError) as error:  # of LaTeX itself, or of one text
        told = re.search(r"^!.*", str(error), re.MULTILINE)
        why = (told[0] if told else str(error))[:200]
        raise EnvError(f"{task.id} cannot be written as pgf ({why}): take --format pdf") from error
    begin = "\\begingroup%\n"
    text = text.replace(begin, begin + _OF_DOCUMENT, 1)
    for sign, name in TEX_SIGNS.items():
        text = text.replace(sign, rf"\ensuremath{{{name}}}")
    return text.encode()


def _foot(task: Task, given: Given) -> str:
    """Say what a figure shows, over how many seeds of what; always, what was run for what."""
    stands_in = given.get("stands_in")
    here = f"ran on {ran_on(stands_in)}" if stands_in else ""
    if not given.get("stamp", True):
        return here
    seeds = _seeds_told(task, given["table"]) if task.draws_seeds else ""
    told = [f"{task.id}, profile {given['profile']}", seeds, here, given.get("aside", "")]
    return "; ".join(filter(None, told))


def _seeds_told(task: Task, table: pd.DataFrame) -> str:
    """Say over how many seeds a table is: "up to" where some points have fewer than others."""
    seed = task.table.seed
    if not seed or not (count := int(table[seed].nunique())):
        return ""
    others = [each.name for each in task.table.columns if each.role == "param"]
    least = table.groupby(others, dropna=False)[seed].nunique().min() if others else count
    told = counted_seeds(count, task.table.seed_unit)
    return f"up to {told}" if least < count else told
