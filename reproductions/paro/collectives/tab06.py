"""Table 6: time to bring gradients to the optimizer states' granularity, once a step."""

from __future__ import annotations

from harness.declare import equal
from reproductions.paro.collectives import quantities as q
from reproductions.paro.collectives.checks import EXACT, cost_task
from reproductions.paro.collectives.table import between_granularities

task = cost_task(
    6,
    "sync_g",
    between_granularities("gradients"),
    (
        "only_whole_sums_stay",
        EXACT,
        equal(q.unsynced, 0, "terms"),
        "On more than one group it takes time but from G to G: only there are sums whole, and"
        " where they are needed (terms that take none).",
    ),
)
