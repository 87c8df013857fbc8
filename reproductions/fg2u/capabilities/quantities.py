"""What Figure 1's checks and claims measure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from harness.declare import pick

if TYPE_CHECKING:
    import pandas as pd

Timed = Callable[["pd.DataFrame"], Any]
"""A quantity of the table of step times."""

MAX_GROWTH = 1.05
"""Of live bytes from 8 to 64 inner steps: above it memory is not constant. The paper's own
(FG)2U grows 1.065 times from 24 to 48."""
EXACT = 1e-10
"""Relative distance, in float64, below which a mean estimate is the gradient."""
STATED = {
    "rgu": (False, True, True),
    "neumann": (True, False, True),
    "trgu": (True, True, True),
    "hessian-free": (True, True, True),
    "fg2u": (True, True, True),
}
"""Figure 1, top left, for the methods that are built here: whether memory is constant, no
inverse of the Hessian is taken, inner steps may be stochastic. rgu is its gradient unrolling,
neumann its implicit function; its value function is in none of its experiments nor here."""


def flags(table: pd.DataFrame) -> dict[str, tuple[bool, bool, bool]]:
    """Return what was measured, per method, in the order of `STATED`."""
    rows = pick(table, panel="capability").set_index("method")
    return {
        str(method): (
            bool(row["memory_growth"] <= MAX_GROWTH),
            bool(row["num_hvps"] == 0),
            bool(row["takes_minibatches"]),
        )
        for method, row in rows.iterrows()
    }


def num_other_flags(table: pd.DataFrame) -> int:
    """Return how many flags are not as Figure 1 states them, or are not there."""
    found = flags(table)
    return sum(
        sum(ours != its for ours, its in zip(found[method], stated, strict=True))
        if method in found
        else len(stated)
        for method, stated in STATED.items()
    )


def bias_of(table: pd.DataFrame, *, method: str) -> float:
    """Return the relative distance of a method's mean estimate from the exact gradient."""
    return float(pick(table, panel="capability", method=method)["relative_bias"].iloc[0])


def timed(table: pd.DataFrame, *, quantity: Timed) -> Any:
    """Return a quantity of the rows that were timed."""
    return quantity(pick(table, panel="efficiency"))
