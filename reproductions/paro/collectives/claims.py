"""Where collectives are decided, and what Tables 4 to 7 ask, which differ in term and layout."""

from __future__ import annotations

from harness.declare import CHECK, SMOKE_AND_CPU, Layout, Task, claims, equal
from reproductions.paro.collectives import quantities as q
from reproductions.paro.collectives.experiment import terms
from reproductions.paro.collectives.table import cost_table
from reproductions.paro.method.schedule import Term

COUNTED = CHECK.at(*SMOKE_AND_CPU, elsewhere="a count is the same at any scale")
EXACT = CHECK.at(*SMOKE_AND_CPU, elsewhere="a formula is the same at any scale")
ROUNDING = 1e-12


def cost_task(number: int, term: Term, layout: Layout | tuple[Layout, ...]) -> Task:
    """Return the task of a table by its number and term."""
    return Task(
        f"paro/tab{number:02}",
        reads=(terms,),
        table=cost_table(term),
        layout=layout,
        claims=claims(
            f"Table {number} and appendix A.3",
            (
                "as_in_symbols",
                EXACT,
                equal(q.closed_form_error, 0, "share", tolerance=ROUNDING),
                "The schedule's collectives take the time of the table's sums, with one ring and"
                " with PaRO-CC.",
            ),
        ),
    )
