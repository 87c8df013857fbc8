"""Tables 4 to 7: they differ in their term, their layout and one check."""

from __future__ import annotations

from harness.declare import CHECK, SMOKE_AND_CPU, Criterion, Layout, Scope, Task, claims, equal
from reproductions.paro.collectives import quantities as q
from reproductions.paro.collectives.experiment import terms
from reproductions.paro.collectives.table import cost_table
from reproductions.paro.method.schedule import Term

EXACT = CHECK.at(*SMOKE_AND_CPU, elsewhere="a formula is at its scale on any machine")
ROUNDING = 1e-12
Check = tuple[str, Scope, Criterion, str]
IN_SYMBOLS: Check = (
    "as_in_symbols",
    EXACT,
    equal(q.closed_form_error, 0, "share", tolerance=ROUNDING),
    "The method's schedule, timed collective by collective, takes what the table's sum of X, Y and"
    " Z says, with one ring of all GPUs and with PaRO-CC (largest relative difference).",
)
ONE_GROUP: Check = (
    "one_group_is_all",
    EXACT,
    equal(q.one_group_error, 0, "share", tolerance=ROUNDING),
    "With one group, and all links alike, I takes what G takes (largest relative difference).",
)


def cost_task(number: int, term: Term, layout: Layout | tuple[Layout, ...], own: Check) -> Task:
    """Return the task of a table by its number and term; own: the check that it has alone."""
    return Task(
        f"paro/tab{number:02}",
        reads=(terms,),
        table=cost_table(term),
        layout=layout,
        claims=claims(f"Table {number} and appendix A.3", IN_SYMBOLS, ONE_GROUP, own),
    )
