"""What the claims on noise are about, each a number from a task's table.

Every function takes the table of one seed, unless it says "whole table". Without another word it
is about the main problem: 160 meta variables, 20 inner steps.
"""

from __future__ import annotations

from harness.declare import Frame, pick
from reproductions.fg2u.sampling.experiment import (
    COORDINATE,
    GAUSSIAN,
    MAIN,
    NUM_STEPS,
    RADEMACHER,
)

RANDOM = (RADEMACHER, GAUSSIAN)
"""Directions that are independent of one another."""


def main_rows(table: Frame, method: str) -> Frame:
    """Return a method's rows on the main problem, by b."""
    rows = pick(table, side=MAIN, num_steps=NUM_STEPS, method=method)
    return rows.sort_values("num_directions")


def square_ratios(table: Frame) -> list[float]:
    """Return the mean square error of one direction over its closed form."""
    rows = (pick(main_rows(table, method), num_directions=1) for method in RANDOM)
    return [1.0 + float(row["square_gap"].iloc[0]) for row in rows]


def error_slopes(table: Frame, *, methods: tuple[str, ...]) -> list[float]:
    """Return the slope of log error in log b, by least squares over all b."""
    import numpy as np

    found = []
    for method in methods:
        rows = main_rows(table, method)
        x = np.log(rows["num_directions"].to_numpy(dtype="float64"))
        y = np.log(rows["relative_error"].to_numpy(dtype="float64"))
        found.append(float(np.polyfit(x, y, 1)[0]))
    return found


def cosines(table: Frame, *, methods: tuple[str, ...]) -> list[float]:
    """Return the cosines of some biased methods with the exact gradient."""
    return [float(main_rows(table, method)["cosine"].iloc[0]) for method in methods]


def coordinate_gap(table: Frame) -> float:
    """Return the largest gap to N/b - 1 where b cuts the coordinates evenly; whole table."""
    return float(_even(table)["square_gap"].abs().max())


def coordinate_mean(table: Frame) -> float:
    """Return the largest error of the mean over whole permutations; whole table."""
    return float(_even(table)["mean_error"].max())


def _even(table: Frame) -> Frame:
    rows = pick(table, method=COORDINATE)
    return rows[rows["num_meta"] % rows["num_directions"] == 0]
