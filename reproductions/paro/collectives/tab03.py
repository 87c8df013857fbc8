"""Table 3: collectives between granularities."""

from functools import partial

from harness.declare import SMALL_CHECK, Task, claims, equal
from reproductions.paro.collectives import quantities as q
from reproductions.paro.collectives import table
from reproductions.paro.collectives.experiment import collectives

task = Task(
    "paro/tab03",
    reads=(collectives,),
    table=table.COLLECTIVES,
    layout=table.COLLECTIVE_LAYOUT,
    claims=claims(
        "Table 3; PaRO-CC",
        (
            "sums_are_right",
            SMALL_CHECK,
            equal(partial(q.total, value="wrong_blocks"), 0, "blocks"),
            "Every collective leaves on each GPU what one process computes, by rings and by"
            " PaRO-CC.",
        ),
        (
            "paro_cc_for_all_gpus",
            SMALL_CHECK,
            equal(q.paro_cc_on_others, 0, "collectives"),
            "PaRO-CC sends fewer bytes out of a group in collectives of all GPUs, and in no"
            " others.",
        ),
    ),
)
