"""What the claims and checks on PDEs are about.

Claims' functions take the table of one seed; checks' the whole table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.declare import InvalidQuantity, MissingRows, pick

if TYPE_CHECKING:
    import pandas as pd

REACHED = 1e-2
"""Relative error at which a solution counts as found."""


def errors(
    table: pd.DataFrame, *, pde: str, method: str, columns: Sequence[str], num_observed: int = 64
) -> list[float]:
    """Return errors of a fit. Raises InvalidQuantity where it diverged."""
    rows = pick(
        table, panel="inverse", pde=pde, method=method, num_observed=num_observed, noise=0.0
    )
    if len(rows) != 1:
        raise MissingRows(f"{len(rows)} fits of {pde} by {method}, need one per seed")
    found = rows[list(columns)].iloc[0]
    if found.isna().any():
        raise InvalidQuantity(f"the fit of {pde} by {method} diverged")
    return [float(each) for each in found]


def error(table: pd.DataFrame, *, pde: str, method: str, column: str) -> float:
    """Return one error of a fit."""
    return errors(table, pde=pde, method=method, columns=(column,))[0]


def against(table: pd.DataFrame, *, pde: str, method: str, other: str) -> list[float]:
    """Return pairs of one method's error and of another's, coefficient and then solution."""
    both = ("eps_phi", "eps_u")
    ours = errors(table, pde=pde, method=method, columns=both)
    theirs = errors(table, pde=pde, method=other, columns=both)
    return [each for pair in zip(ours, theirs, strict=True) for each in pair]


def by_pde(table: pd.DataFrame, *, pdes: Sequence[str], method: str, column: str) -> list[float]:
    """Return one error of a method for each equation."""
    return [error(table, pde=pde, method=method, column=column) for pde in pdes]


def seconds_to(table: pd.DataFrame, *, method: str) -> float:
    """Return the least seconds at which a method's error is at most 1e-2.

    Of a training that never gets there all its seconds, a lower bound. Raises InvalidQuantity for
    a numerical solver that does not.
    """
    rows = pick(table, panel="forward", method=method)
    there = rows[rows["eps_u"] <= REACHED]
    if there.empty and method == "numerical":
        raise InvalidQuantity("the numerical solver reaches 1e-2 on no grid")
    return float(rows["solve_s"].max() if there.empty else there["solve_s"].min())


def times(table: pd.DataFrame, *, methods: Sequence[str]) -> list[float]:
    """Return pairs of the numerical solver's seconds and of each training's."""
    ours = seconds_to(table, method="numerical")
    return [each for name in methods for each in (ours, seconds_to(table, method=name))]


def error_at(table: pd.DataFrame, *, method: str, steps: int) -> float:
    """Return a training's error after some steps."""
    rows = pick(table, panel="forward", method=method, inner_steps=steps)
    if len(rows) != 1:
        raise MissingRows(f"{len(rows)} rows of {method} at {steps} steps, need one per seed")
    return float(rows["eps_u"].iloc[0])


def least_error(table: pd.DataFrame, *, method: str) -> float:
    """Return the least error of a training."""
    return float(pick(table, panel="forward", method=method)["eps_u"].min())


def pairs_at(table: pd.DataFrame, *, method: str, other: str, steps: Sequence[int]) -> list[float]:
    """Return pairs of two trainings' errors, at some steps in turn."""
    return [
        error_at(table, method=name, steps=number) for number in steps for name in (method, other)
    ]


def worst_slope(table: pd.DataFrame, **wanted: str | float) -> float:
    """Return the largest error of a derivative over the equations; whole table."""
    return float(pick(table, panel="slope", **wanted)["slope_error"].max())


def ends_over_least(table: pd.DataFrame, *, method: str, scheme: str) -> float:
    """Return by how much the lesser error of the largest and the smallest step exceeds the least
    error between them, for the equation where that is least; whole table."""
    found = []
    for _, rows in pick(table, panel="slope", method=method, scheme=scheme).groupby("pde"):
        ordered = rows.sort_values("mu")["slope_error"]
        found.append(min(ordered.iloc[0], ordered.iloc[-1]) / ordered.iloc[1:-1].min())
    return float(min(found))


def fact(table: pd.DataFrame, *, kinds: Sequence[str]) -> list[float]:
    """Return the largest fact of each kind over the equations; whole table."""
    return [float(pick(table, kind=kind)["u"].max()) for kind in kinds]


def wrong_observations(table: pd.DataFrame, *, expected: int) -> int:
    """Return how many observations the equations have too many or too few; whole table."""
    counts = pick(table, kind="observed").groupby("pde").size()
    return int((counts - expected).abs().sum())
