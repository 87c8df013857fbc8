"""Golden trial of known systems: the paper's inputs."""

from __future__ import annotations

from tests.golden_trials import Golden, Short
from tests.patches import Mutation, around

GOLDEN = (
    Golden(
        experiment="paro/peers",
        points=(Short(),),
        mutation=Mutation(
            where="reproductions.paro.method.schedule:gather",
            instead=around(lambda gather, held, wanted="N": gather(held, "N")),
            breaks="New parameters are gathered whole, whatever part a GPU keeps.",
        ),
        double=False,
    ),
)
