"""From a group of statements to its rows: how far apart is what each says is equal."""

from __future__ import annotations

from collections.abc import Callable

from harness.declare import Row, RunContext
from reproductions.fg2u.identities.biases import bias_rows
from reproductions.fg2u.identities.costs import cost_rows
from reproductions.fg2u.identities.descent import descent_rows
from reproductions.fg2u.identities.directions import direction_rows
from reproductions.fg2u.identities.estimators import estimator_rows
from reproductions.fg2u.identities.experiment import Group, Statement

GROUPS: dict[Statement, Callable[[], list[Row]]] = {
    "estimators": estimator_rows,
    "directions": direction_rows,
    "descent": descent_rows,
    "biases": bias_rows,
    "costs": cost_rows,
}


def identity_rows(params: Group, ctx: RunContext) -> list[Row]:
    """Return the rows of a group of statements; nothing in them is random."""
    return GROUPS[params.statement]()
