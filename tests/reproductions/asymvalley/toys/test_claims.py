"""Toys with a broken method fail their checks, and what a quantity makes of a broken table."""

from __future__ import annotations

import pytest

from reproductions.asymvalley.toys.quantities import bracket_violation
from tests.reproductions.asymvalley.toys.hand_made import lines


def test_bracket_is_violated_by_as_much_as_the_loss_leaves_it() -> None:
    table = lines("holds")
    table.loc[(table["seed"] == 1) & (table["lambda"] == 1.0), "ce"] += 5.0
    # From 0.5 to 1 a quadratic loss rises by 0.25 less than its bound, here by 5 too much.
    assert bracket_violation(table) == pytest.approx(4.75)
