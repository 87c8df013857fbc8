"""Table 3: collectives between granularities."""

from __future__ import annotations

from functools import partial

from harness.declare import CHECK, SMOKE_AND_CPU, Task, claims, equal
from reproductions.paro.collectives import quantities as q
from reproductions.paro.collectives import table
from reproductions.paro.collectives.experiment import collectives

EXACT = CHECK.at(*SMOKE_AND_CPU, elsewhere="messages are counted, at any scale alike")
task = Task(
    "paro/tab03",
    reads=(collectives,),
    table=table.COLLECTIVES,
    layout=table.COLLECTIVE_LAYOUT,
    claims=claims(
        "Table 3; PaRO-CC",
        (
            "sums_are_right",
            EXACT,
            equal(partial(q.total, value="wrong_blocks"), 0, "blocks"),
            "Every collective, sent message by message in rings and with PaRO-CC, leaves on every"
            " GPU what one process computes (blocks that differ).",
        ),
        (
            "paro_cc_for_all_gpus",
            EXACT,
            equal(q.paro_cc_on_others, 0, "collectives"),
            "With PaRO-CC fewer bytes of a GPU leave its group in collectives of all GPUs, and in"
            " no other (collectives for which it is not so).",
        ),
    ),
)
