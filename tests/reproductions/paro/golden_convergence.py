"""Golden trial of losses: ranks in processes of their own, one process in this one."""

from __future__ import annotations

from tests.golden_trials import Golden, Short
from tests.patches import Mutation, around
from tests.reproductions.paro.golden_held import RANKS

GOLDEN = (
    Golden(
        experiment="paro/convergence",
        points=(Short(of={"precision": "float64"}),),
        mutation=Mutation(
            where="reproductions.paro.convergence.loops:stepped",
            instead=around(
                lambda stepped, training, optimizer, params: stepped(
                    training, optimizer, params[1:]
                )
            ),
            breaks="The first parameter's gradient is neither clipped nor in the norm.",
        ),
        patches=(RANKS,),
    ),
)
