"""Golden trial of measured steps: some strategies on four ranks, for the bytes that they count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.golden_trials import Golden, Short
from tests.patches import Mutation, Patch, around
from tests.reproductions.paro.golden_held import once

COUNTED_BY = "reproductions.paro.measured_steps.trial:run_ranks"


def ranks_once(
    run: Callable[..., Any], function: Any, params: Any, *given: Any, **more: Any
) -> Any:
    """Return what ranks measure: they are processes of their own, which no mutation reaches."""
    return once(lambda f, p, **named: run(f, p, *given, **named), function, params, **more)


GOLDEN = (
    Golden(
        experiment="paro/measured_steps",
        points=(Short(to={"about": "scaling"}),),
        mutation=Mutation(
            where="reproductions.paro.method.cluster:Cluster.parts",
            instead=around(lambda parts, self, granularity: parts(self, "N")),
            breaks="The formula splits nothing.",
        ),
        double=False,
        patches=(Patch(where=COUNTED_BY, instead=around(ranks_once)),),
    ),
)
