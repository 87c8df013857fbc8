"""Table 7: time to bring new parameters from the optimizer states' granularity to theirs."""

from __future__ import annotations

from harness.declare import Task, claims, equal
from reproductions.paro.collectives import quantities as q
from reproductions.paro.collectives import table
from reproductions.paro.collectives.checks import EXACT, IN_SYMBOLS
from reproductions.paro.collectives.experiment import terms

task = Task(
    "paro/tab07",
    reads=(terms,),
    table=table.cost_table("sync_p", pairs=True),
    layout=table.between_granularities("parameters"),
    claims=claims(
        "Table 7 and appendix A.3",
        IN_SYMBOLS,
        (
            "nothing_for_what_is_there",
            EXACT,
            equal(q.moved_for_nothing, 0, "terms"),
            "It takes no time where optimizer states are split no finer than parameters, as from N"
            " to N: a GPU has updated what it holds (terms that take some).",
        ),
    ),
)
