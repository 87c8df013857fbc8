"""Table 6: time to bring gradients to the optimizer states' granularity, once a step."""

from __future__ import annotations

from harness.declare import Task, claims, equal
from reproductions.paro.collectives import quantities as q
from reproductions.paro.collectives import table
from reproductions.paro.collectives.checks import EXACT, IN_SYMBOLS
from reproductions.paro.collectives.experiment import terms

task = Task(
    "paro/tab06",
    reads=(terms,),
    table=table.cost_table("sync_g", pairs=True),
    layout=table.between_granularities("gradients"),
    claims=claims(
        "Table 6 and appendix A.3",
        IN_SYMBOLS,
        (
            "only_whole_sums_stay",
            EXACT,
            equal(q.unsynced, 0, "terms"),
            "On more than one group it takes time but from G to G: only there are sums whole, and"
            " where they are needed (terms that take none).",
        ),
    ),
)
