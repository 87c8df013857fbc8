"""What the claims and checks on PDEs are about.

Claims' functions take the table of one seed; checks' the whole table.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from harness.declare import Frame, InvalidQuantity, MissingRows, pick
from reproductions.fg2u.coefficients.table import NUM_OBSERVED

REACHED = 1e-2
"""Relative error at which a solution counts as found."""


def _one(table: Frame, column: str, **wanted: str | float) -> float:
    """Return a number of the one row that a seed has."""
    found = pick(table, **wanted)[column]
    if len(found) != 1:
        raise MissingRows(f"{len(found)} rows of {wanted}, need one per seed")
    return float(found.iloc[0])


def error(table: Frame, *, pde: str, method: str, column: str) -> float:
    """Return an error of a fit. Raises InvalidQuantity where it diverged."""
    found = _one(
        table, column, panel="inverse", pde=pde, method=method, num_observed=NUM_OBSERVED, noise=0.0
    )
    if isnan(found):
        raise InvalidQuantity(f"the fit of {pde} by {method} diverged")
    return found


def against(table: Frame, *, pde: str, method: str, other: str) -> list[float]:
    """Return pairs of one method's error and of another's, coefficient and then solution."""
    return [
        error(table, pde=pde, method=name, column=column)
        for column in ("eps_phi", "eps_u")
        for name in (method, other)
    ]


def by_pde(table: Frame, *, pdes: Sequence[str], method: str, column: str) -> list[float]:
    """Return one error of a method for each equation."""
    return [error(table, pde=pde, method=method, column=column) for pde in pdes]


def seconds_to(table: Frame, *, method: str) -> float:
    """Return the least seconds at which a method's error is at most 1e-2.

    Of a training that never gets there all its seconds, a lower bound. Raises InvalidQuantity for
    a numerical solver that does not.
    """
    rows = pick(table, panel="forward", method=method)
    there = rows[rows["eps_u"] <= REACHED]
    if there.empty and method == "numerical":
        raise InvalidQuantity("the numerical solver reaches 1e-2 on no grid")
    return float(rows["solve_s"].max() if there.empty else there["solve_s"].min())


def times(table: Frame, *, methods: Sequence[str]) -> list[float]:
    """Return pairs of the numerical solver's seconds and of each training's."""
    ours = seconds_to(table, method="numerical")
    return [each for name in methods for each in (ours, seconds_to(table, method=name))]


def least_error(table: Frame, *, method: str) -> float:
    """Return the least error of a training."""
    return float(pick(table, panel="forward", method=method)["eps_u"].min())


def pairs_at(table: Frame, *, method: str, other: str, steps: Sequence[int]) -> list[float]:
    """Return pairs of two trainings' errors, at some steps in turn."""
    return [
        _one(table, "eps_u", panel="forward", method=name, inner_steps=number)
        for number in steps
        for name in (method, other)
    ]


def worst_slope(table: Frame, **wanted: str | float) -> float:
    """Return the largest error of a derivative over the equations; whole table."""
    return float(pick(table, panel="slope", **wanted)["slope_error"].max())


def ends_over_least(table: Frame, *, method: str, scheme: str) -> float:
    """Return by how much the lesser error of the largest and the smallest step exceeds the least
    error between them, for the equation where that is least; whole table."""
    found = []
    for _, rows in pick(table, panel="slope", method=method, scheme=scheme).groupby("pde"):
        ordered = rows.sort_values("mu")["slope_error"]
        found.append(min(ordered.iloc[0], ordered.iloc[-1]) / ordered.iloc[1:-1].min())
    return float(min(found))


def fact(table: Frame, *, kinds: Sequence[str]) -> list[float]:
    """Return the largest fact of each kind over the equations; whole table."""
    return [float(pick(table, kind=kind)["u"].max()) for kind in kinds]


def wrong_observations(table: Frame, *, expected: int) -> int:
    """Return how many observations the equations have too many or too few; whole table."""
    counts = pick(table, kind="observed").groupby("pde").size()
    return int((counts - expected).abs().sum())
