"""Table 2: blocks that a GPU holds at each granularity."""

from harness.declare import SMALL_CHECK, Task, at_most, claims
from reproductions.paro.collectives import quantities as q
from reproductions.paro.collectives import table
from reproductions.paro.collectives.experiment import blocks

task = Task(
    "paro/tab02",
    reads=(blocks,),
    table=table.BLOCKS,
    layout=(table.block_layout(4, 2, table.BLOCK_NOTES), table.block_layout(8, 4)),
    claims=claims(
        "Table 2 and the setup beside it, both numberings of the released code",
        (
            "blocks_fit",
            SMALL_CHECK,
            at_most(q.misplaced, 0, "misplaced").naming(
                "blocks under G", "blocks under I", "places unlike in two groups", "G outside I"
            ),
            "GPUs hold every block once under G and once per group under I, and each G block is"
            " among its GPU's I blocks.",
        ),
    ),
)
