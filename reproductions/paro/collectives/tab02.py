"""Table 2: blocks that a GPU holds at each granularity."""

from __future__ import annotations

from harness.declare import CHECK, SMOKE_AND_CPU, Task, claims, equal
from reproductions.paro.collectives import quantities as q
from reproductions.paro.collectives import table
from reproductions.paro.collectives.experiment import blocks

EXACT = CHECK.at(*SMOKE_AND_CPU, elsewhere="blocks are counted, at any scale alike")
task = Task(
    "paro/tab02",
    reads=(blocks,),
    table=table.BLOCKS,
    layout=(table.block_layout(4, 2, table.BLOCK_NOTES), table.block_layout(8, 4)),
    claims=claims(
        "Table 2 and the setup beside it, both numberings of the released code",
        (
            "global_blocks_are_all",
            EXACT,
            equal(q.not_permuted, 0, "clusters"),
            "Under G the GPUs hold each of the n blocks once (clusters on which they do not).",
        ),
        (
            "group_blocks_are_all",
            EXACT,
            equal(q.not_parted, 0, "groups"),
            "Under I the GPUs of a group hold each of the n blocks once (groups that do not).",
        ),
        (
            "groups_are_alike",
            EXACT,
            equal(q.unlike_groups, 0, "places"),
            "Under I a GPU's blocks do not depend on its group (places in a group whose do).",
        ),
        (
            "global_block_within",
            EXACT,
            equal(q.outside, 0, "GPUs"),
            "The block that GPU(i,j) holds under G is the i-th of those it holds under I, so that"
            " between the two only GPUs of one place in different groups talk (GPUs for which it is"
            " not).",
        ),
    ),
)
