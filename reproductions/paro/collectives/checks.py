"""Checks that Tables 4 to 7 share."""

from __future__ import annotations

from harness.declare import CHECK, SMOKE_AND_CPU, Criterion, Scope, equal
from reproductions.paro.collectives import quantities as q

EXACT = CHECK.at(*SMOKE_AND_CPU, elsewhere="a formula is at its scale on any machine")
ROUNDING = 1e-12
IN_SYMBOLS: tuple[str, Scope, Criterion, str] = (
    "as_in_symbols",
    EXACT,
    equal(q.closed_form_error, 0, "share", tolerance=ROUNDING),
    "The method's schedule, timed collective by collective, takes what the table's sum of X, Y and"
    " Z says, with one ring of all GPUs and with PaRO-CC (largest relative difference).",
)
ONE_GROUP: tuple[str, Scope, Criterion, str] = (
    "one_group_is_all",
    EXACT,
    equal(q.one_group_error, 0, "share", tolerance=ROUNDING),
    "With one group, and all links alike, I takes what G takes (relative difference).",
)
