"""Table 4: time to gather parameters for the forward and the backward pass of a micro-batch."""

from __future__ import annotations

from harness.declare import Task, at_least, claims
from reproductions.paro.collectives import quantities as q
from reproductions.paro.collectives import table
from reproductions.paro.collectives.checks import EXACT, IN_SYMBOLS, ONE_GROUP
from reproductions.paro.collectives.experiment import terms

task = Task(
    "paro/tab04",
    reads=(terms,),
    table=table.cost_table("param", pairs=False),
    layout=table.by_granularity(only_whole=True),
    claims=claims(
        "Table 4 and appendix A.3",
        IN_SYMBOLS,
        ONE_GROUP,
        (
            "finer_takes_longer",
            EXACT,
            at_least(q.least_rise, 0, "s"),
            "Where links within groups are no slower than those between them, gathering takes no"
            " less time from I than from N, and from G than from I (least step).",
        ),
    ),
)
