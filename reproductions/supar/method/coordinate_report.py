"""What a coordinate check found: a verdict, one table to read, one figure, and data frames.

Measuring and judging need torch and numpy; `to_frame` needs pandas, and `plot` matplotlib.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

from harness.errors import EnvError, SpecError
from reproductions.supar.method.slopes import SIZES, Along, Grid, Size, Sizes, Slope, Verdict

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

COLUMNS = 80
NAME, CELL = 28, 8
"""Letters of a layer's name, and of a number with its mark and the space before it."""
MAX_LINES = 24
"""Layers that are printed."""
HEADS: dict[Size, str] = {"mean_abs_activation": "Y", "delta_y_rms": "dY", "grad_x_rms": "grad X"}
MARKS: dict[Verdict, str] = {"fail": "!", "undecided": "?", "pass": " "}
"""The worst first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CoordinateReport:
    """What a coordinate check found; printed, a table with one line per layer."""

    grid: Grid
    sizes: Sizes
    """What was measured, by size; `to_frame("sizes")` says where."""
    slopes: tuple[Slope, ...]
    """One per layer, size, phase and direction, with its interval and verdict."""

    @property
    def verdict(self) -> Verdict:
        """`fail` if any slope fails, else `undecided` if any is, else `pass`."""
        found = {row.verdict for row in self.slopes}
        return next(verdict for verdict in MARKS if verdict in found)

    @property
    def passed(self) -> bool:
        return self.verdict == "pass"

    def __str__(self) -> str:
        """Return at most 80 columns: how far slopes lie from those expected, the worst first.

        A cell is of the phase (before training, after updates) in which the slope is worse.
        """
        widths, densities = (
            ", ".join(f"{place:g}" for place in places)
            for places in (self.grid.widths, self.grid.densities)
        )
        setting = (
            f"Widths: {widths}. Densities: {densities}. Seeds: {self.grid.num_seeds}. "
            f"Updates: {self.grid.num_steps}."
        )
        return "\n".join(
            [
                f"Coordinate check: {self.verdict}. Of {len(self.slopes)} slopes:"
                f" {_counted(self.slopes)}.",
                *wrap(setting, COLUMNS),
                "",
                *self._lines(),
                "",
                *wrap(self._key(), COLUMNS),
            ]
        )

    def _lines(self) -> Iterator[str]:
        """Yield the table: a line per layer, a cell per direction and size."""
        columns = [(along, size) for along in self.grid.directions for size in SIZES]
        over = (f"{f'against {along}':>{3 * CELL - 1}} " for along in self.grid.directions)
        yield f"{'':{NAME}}{''.join(over)}".rstrip()
        heads = (f"{HEADS[size]:>{CELL - 1}} " for _, size in columns)
        yield f"{'layer':{NAME}}{''.join(heads)}".rstrip()
        cells = {
            layer: [self._worse(layer, *column) for column in columns] for layer in self.grid.layers
        }
        order = sorted(cells, key=lambda layer: min(map(_badness, cells[layer])))
        for layer in order[:MAX_LINES]:
            yield (_short(layer) + "".join(map(_cell, cells[layer]))).rstrip()
        if rest := [_worst(cells[layer]) for layer in order[MAX_LINES:]]:
            yield f"and {len(rest)} more layers: {_counted(rest)}"

    def _worse(self, layer: str, along: Along, size: Size) -> Slope:
        key = (layer, along, size)
        return _worst([row for row in self.slopes if (row.layer, row.along, row.size) == key])

    def _key(self) -> str:
        tolerance = self.slopes[0].tolerance
        said = f"Log-log slopes less those expected; allowed is {tolerance:.2g} either way."
        if self.verdict == "fail":
            said += " ! fails."
        for reason, _ in Counter(
            row.reason for row in self.slopes if row.verdict == "undecided"
        ).most_common(1):
            said += f" ? undecided: {reason}."
        return said

    def to_frame(self, what: Literal["slopes", "sizes"] = "slopes") -> pd.DataFrame:
        """Return one row per slope; or, for `sizes`, per layer, seed, width, density and step.

        Raises EnvError without pandas.
        """
        if what not in ("slopes", "sizes"):
            raise SpecError(f"what={what!r}: need 'slopes' or 'sizes'")
        try:
            import pandas as pd
        except ImportError as error:
            raise EnvError(
                "to_frame needs pandas, which is not installed: pip install pandas, or read .slopes"
            ) from error
        if what == "slopes":
            return pd.DataFrame([asdict(row) for row in self.slopes])
        grid = self.grid
        axes = {
            "layer": grid.layers,
            "seed": range(grid.num_seeds),
            "width": grid.widths,
            "density": grid.densities,
            "step": range(grid.num_steps + 1),
        }
        index = pd.MultiIndex.from_product(list(axes.values()), names=list(axes))
        columns = {size: values.ravel() for size, values in self.sizes.items()}
        return pd.DataFrame(columns, index=index).reset_index()

    def plot(self) -> Figure:
        """Return a figure of every layer's sizes over those expected: level lines are sound.

        Raises EnvError without matplotlib.
        """
        try:
            from reproductions.supar.method.coordinate_figure import draw
        except ImportError as error:
            raise EnvError(
                "plot needs matplotlib, which is not installed: pip install matplotlib, or print"
                " the report"
            ) from error
        return draw(self.grid, self.sizes, self.slopes)


def _counted(rows: Sequence[Slope]) -> str:
    """Say how many rows have each verdict, the worst first."""
    counts = Counter(row.verdict for row in rows)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in MARKS if counts[verdict])


def _badness(row: Slope) -> tuple[int, float]:
    """Return what sorts the worse slope before the better one."""
    off = abs(row.slope - row.expected)
    return list(MARKS).index(row.verdict), -math.inf if math.isnan(off) else -off


def _worst(rows: list[Slope]) -> Slope:
    return min(rows, key=_badness)


def _cell(row: Slope) -> str:
    off = row.slope - row.expected
    return f"{'none' if math.isnan(off) else f'{off:+.2f}':>{CELL - 1}}{MARKS[row.verdict]}"


def _short(layer: str) -> str:
    """Return a layer's name at the table's width, which layers' ends tell apart."""
    return f"{layer if len(layer) < NAME else '..' + layer[3 - NAME :]:{NAME}}"
