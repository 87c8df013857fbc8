"""What the claims on differences are about, each a number from the task's table.

Every function takes the table of one seed, unless it says "whole table".
"""

from __future__ import annotations

from harness.declare import Frame, MissingRows, pick
from reproductions.fg2u.differences.experiment import ONE, TEN, Dtype

SCHEMES = ("forward", "central")
DTYPES: tuple[Dtype, ...] = ("float32", "float64")
ROUNDING: dict[Dtype, tuple[float, float]] = {"float32": (-7.0, -5.0), "float64": (-12.0, -9.0)}
"""Exponents of steps at which rounding outweighs truncation under either scheme: below the root
of the machine's epsilon, at which that of forward differences begins to."""


def slope(rows: Frame, low: float, high: float) -> float:
    """Return the slope of log error in log mu, by least squares over steps between exponents.

    Raises MissingRows unless they reach from the one exponent to the other.
    """
    import numpy as np

    rows = rows[rows["log10_mu"].between(low, high)]
    if rows.empty or (rows["log10_mu"].min(), rows["log10_mu"].max()) != (low, high):
        raise MissingRows(f"no steps from 1e{low:g} to 1e{high:g}")
    x = rows["log10_mu"].to_numpy(dtype="float64")
    y = np.log10(rows["relative_error"].to_numpy(dtype="float64"))
    return float(np.polyfit(x, y, 1)[0])


def truncation_slopes(
    table: Frame, *, scheme: str, lowest: float, num_meta: int, directions: str
) -> list[float]:
    """Return the slope of each seed in double, from mu = 0.1 down to a step; whole table."""
    rows = pick(table, dtype="float64", num_meta=num_meta, scheme=scheme, directions=directions)
    return [slope(part, lowest, -1.0) for _, part in rows.groupby("seed")]


def rounding_slopes(table: Frame) -> list[float]:
    """Return the slope where mu is small, by precision and scheme."""
    return [
        slope(_rademacher(table, dtype, scheme), *ROUNDING[dtype])
        for dtype in DTYPES
        for scheme in SCHEMES
    ]


def grid_error(table: Frame, *, exponent: float) -> float:
    """Return the largest error of the released grid against the gradient; whole table."""
    rows = pick(
        table, dtype="float64", num_meta=ONE, directions="gauss-grid", scheme="central",
        log10_mu=exponent,
    )  # fmt: skip
    return float(rows["gradient_error"].max())


def _rademacher(table: Frame, dtype: str, scheme: str) -> Frame:
    return pick(table, dtype=dtype, num_meta=TEN, scheme=scheme, directions="rademacher")
