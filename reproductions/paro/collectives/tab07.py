"""Table 7: time to bring new parameters from the optimizer states' granularity to theirs."""

from __future__ import annotations

from harness.declare import equal
from reproductions.paro.collectives import quantities as q
from reproductions.paro.collectives.checks import EXACT, cost_task
from reproductions.paro.collectives.table import between_granularities

task = cost_task(
    7,
    "sync_p",
    between_granularities("parameters"),
    (
        "nothing_for_what_is_there",
        EXACT,
        equal(q.moved_for_nothing, 0, "terms"),
        "It takes no time where optimizer states are split no finer than parameters, as from N"
        " to N: a GPU has updated what it holds (terms that take some).",
    ),
)
