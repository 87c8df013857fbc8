"""Golden trials of what ranks noted: ranks run once, and what is planned is of this process."""

from __future__ import annotations

from tests.golden_trials import Golden, Short
from tests.patches import Mutation, around
from tests.reproductions.paro.golden_held import RANKS

GOLDEN = (
    Golden(
        experiment="paro/traced_step",
        points=(Short(),),
        mutation=Mutation(
            where="reproductions.paro.method.schedule:reduce_per_micro_batch",
            instead=around(lambda reduce, grads: ()),
            breaks="The schedule reduces no gradient in a backward pass.",
        ),
        double=False,
        patches=(RANKS,),
    ),
    Golden(
        experiment="paro/traced_gather",
        points=(Short(),),
        mutation=Mutation(
            where="reproductions.paro.traces.trial:groups_come",
            instead=around(lambda come, part, rank, gather: 1 + come(part, rank, gather)),
            breaks="Groups that a part came through are counted with one too many.",
        ),
        double=False,
        patches=(RANKS,),
    ),
)
