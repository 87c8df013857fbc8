"""Table 5: time to reduce gradients in the backward pass of a micro-batch."""

from __future__ import annotations

from harness.declare import Task, at_least, claims
from reproductions.paro.collectives import quantities as q
from reproductions.paro.collectives import table
from reproductions.paro.collectives.checks import EXACT, IN_SYMBOLS, ONE_GROUP
from reproductions.paro.collectives.experiment import terms

task = Task(
    "paro/tab05",
    reads=(terms,),
    table=table.cost_table("gradient", pairs=False),
    layout=table.by_granularity(),
    claims=claims(
        "Table 5 and appendix A.3",
        IN_SYMBOLS,
        ONE_GROUP,
        (
            "finer_takes_longer",
            EXACT,
            at_least(q.least_rise, 0, "s"),
            "Where links within groups are no slower than those between them, reducing takes no"
            " less time to I than to N, and to G than to I (least step).",
        ),
    ),
)
