"""Judge the sizes of a coordinate check: log-log slopes, their intervals, and one verdict.

A check has a slope per layer, size, phase (before training, after updates) and direction: over
densities if along the width, and over the updates, it is a mean. Per seed it is one number; the
seeds give a mean and a 95 % t interval.

One rule for however many slopes. A slope *passes* if its interval lies within the tolerance, and
a model does if all of its slopes do, which asks for no correction (an intersection-union test:
Berger, Technometrics 24, 1982). A slope *fails* if it lies outside the tolerance at a false
discovery rate of 5 % over all slopes of the check (Benjamini and Hochberg, J. R. Stat. Soc. B 57,
1995; with dependence of the positive kind: Benjamini and Yekutieli, Ann. Stat. 29, 2001). So a
sound model fails in at most 5 % of checks, whether it has ten layers or a thousand, and of the
slopes said to fail at most 5 % are expected to be sound. What is neither is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Size = Literal["mean_abs_activation", "delta_y_rms", "grad_x_rms"]
Along = Literal["width", "density"]
Phase = Literal["start", "trained"]
"""Before the first update; after each of them, on average."""
Verdict = Literal["pass", "fail", "undecided"]
SIZES: tuple[Size, ...] = ("mean_abs_activation", "delta_y_rms", "grad_x_rms")

FLAT = math.log2(2.5) / 4
"""Largest log-log slope, without its sign, of a size that counts as constant: 0.33, a factor 2.5
over four doublings, the bound of Figure 5's claims. The paper shows flatness and gives none."""
RATE = 0.05
"""The false discovery rate, and one minus the confidence of intervals."""
MIN_SEEDS = 3
"""Fewer decide nothing."""
AXES = ("seed", "width", "density", "step")


@dataclass(frozen=True, kw_only=True, slots=True)
class Grid:
    """The places at which sizes were measured; every array of sizes has these axes."""

    layers: tuple[str, ...]
    num_seeds: int
    widths: tuple[int, ...]
    densities: tuple[float, ...]
    num_steps: int
    """Updates; sizes were measured before each of them and after the last."""

    @property
    def shape(self) -> tuple[int, ...]:
        widths, densities = len(self.widths), len(self.densities)
        return (len(self.layers), self.num_seeds, widths, densities, self.num_steps + 1)

    def places(self, along: Along) -> tuple[float, ...]:
        return self.widths if along == "width" else self.densities

    @property
    def directions(self) -> tuple[Along, ...]:
        """The directions along which there is a slope."""
        every: tuple[Along, ...] = ("width", "density")
        return tuple(along for along in every if len(self.places(along)) > 1)


Sizes = Mapping[Size, NDArray[np.float64]]
"""Each of shape (layers, seeds, widths, densities, steps + 1); NaN for the change at step 0."""
Expected = Mapping[tuple[str, ...], float]
"""Slopes by (size, along), or for one phase alone by (size, along, phase)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Slope:
    """How one size of one layer grows along one direction, and whether it should."""

    layer: str
    size: Size
    phase: Phase
    along: Along
    slope: float
    """Mean over seeds; NaN where a size has no logarithm."""
    low: float
    high: float
    """The 95 % t interval."""
    expected: float
    tolerance: float
    p_value: float
    """Of a slope that lies on the tolerance's edge; two-sided, so that one slope alone fails as
    its interval does. NaN for too few seeds."""
    verdict: Verdict
    reason: str
    """Of one that is undecided or has no slope."""


def judge(grid: Grid, sizes: Sizes, *, tolerance: float, expected: Expected) -> tuple[Slope, ...]:
    """Return all slopes of a check with their verdicts."""
    phases: tuple[tuple[Phase, slice], ...] = (("start", slice(1)), ("trained", slice(1, None)))
    found = []
    for (index, layer), along in product(enumerate(grid.layers), grid.directions):
        for size, (phase, steps) in product(SIZES, phases):
            if (size, phase) == ("delta_y_rms", "start"):
                continue
            row = Slope(
                layer=layer, size=size, phase=phase, along=along, slope=math.nan, low=math.nan,
                high=math.nan, tolerance=tolerance, p_value=math.nan, verdict="undecided",
                expected=expected.get((size, along, phase), expected.get((size, along), math.nan)),
                reason="",
            )  # fmt: skip
            found.append(_measured(row, grid, sizes[size][index, ..., steps]))
    return _corrected(found)


def _measured(row: Slope, grid: Grid, sizes: NDArray[np.float64]) -> Slope:
    """Fill in what a slope's own sizes say, shape (seeds, widths, densities, steps)."""
    if not np.isfinite(sizes).all():
        return replace(row, p_value=0.0, reason="a size is not finite: the model diverged")
    if not sizes.all():
        return replace(row, reason="a size is 0, which has no logarithm")
    slopes = _per_seed(np.log2(sizes), grid.places(row.along), AXES.index(row.along))
    row = replace(row, slope=float(slopes.mean()))
    if len(slopes) < MIN_SEEDS:
        return replace(row, reason=f"{len(slopes)} seed(s), need at least {MIN_SEEDS}")
    error = float(slopes.std(ddof=1)) / math.sqrt(len(slopes))
    half = t_quantile(RATE / 2, len(slopes) - 1) * error
    row = replace(row, low=row.slope - half, high=row.slope + half, p_value=1.0)
    outside = abs(row.slope - row.expected) - row.tolerance
    if outside + half <= 0.0:
        return replace(row, verdict="pass")
    if outside > 0.0:
        tail = t_tail(outside / error, len(slopes) - 1) if error else 0.0
        row = replace(row, p_value=2.0 * tail)
    return replace(row, reason="neither within the tolerance nor surely outside: use more seeds")


def _per_seed(logs: NDArray[np.float64], places: Sequence[float], axis: int) -> NDArray[np.float64]:
    """Return each seed's least-squares slope, with an intercept per line of the grid."""
    x = np.log2(places)
    x -= x.mean()
    lines: NDArray[np.float64] = np.moveaxis(logs, axis, -1) @ x / (x @ x)
    means: NDArray[np.float64] = lines.reshape(len(lines), -1).mean(axis=1)
    return means


def _corrected(rows: Sequence[Slope]) -> tuple[Slope, ...]:
    """Let those slopes fail that do at the false discovery rate."""
    tests = sorted(row.p_value for row in rows if not math.isnan(row.p_value))
    passed = [p for rank, p in enumerate(tests, start=1) if p <= RATE * rank / len(tests)]
    threshold = max(passed, default=-1.0)
    return tuple(
        replace(row, verdict="fail", reason=row.reason if math.isnan(row.slope) else "")
        if row.p_value <= threshold
        else row
        for row in rows
    )


def t_tail(t: float, degrees: int) -> float:
    """Return the probability that Student's t lies above `t`, which is not negative.

    Source: Abramowitz and Stegun, 26.7.3 and 26.7.4, exact for whole degrees of freedom.

    >>> round(t_tail(2.7764451, 4), 9)
    0.025
    """
    angle = math.atan(t / math.sqrt(degrees))
    square = math.cos(angle) ** 2
    odd = degrees % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for k in range(1 + odd, degrees, 2):
        total += term
        term *= square * k / (k + 1)
    inner = math.sin(angle) * total
    return (1.0 - (2 / math.pi * (angle + inner) if odd else inner)) / 2


def t_quantile(tail: float, degrees: int) -> float:
    """Return the t above which `tail` of the probability lies, at most a half.

    >>> round(t_quantile(0.025, 4), 6)
    2.776445
    """
    low, high = 0.0, 1.0
    while t_tail(high, degrees) > tail:
        high *= 2.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if t_tail(middle, degrees) > tail else (low, middle)
    return high
