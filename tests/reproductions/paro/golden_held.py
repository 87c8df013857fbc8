"""Golden trial of bytes held: four ranks, counted once for both of its runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.golden_trials import Golden, Short
from tests.patches import Mutation, Patch, around

COUNTED: dict[str, Any] = {}
"""What ranks counted, by what they were told."""


def once(call: Callable[..., Any], function: Any, params: Any, **more: Any) -> Any:
    """Return what ranks count: they are processes of their own, which no mutation reaches."""
    told = json.dumps(params)
    if told not in COUNTED:
        COUNTED[told] = call(function, params, **more)
    return COUNTED[told]


RANKS = Patch(where="reproductions.paro.models.gloo_ranks:call_fresh", instead=around(once))

GOLDEN = (
    Golden(
        experiment="paro/held_bytes",
        points=(Short(of={"num_ranks": 4}),),
        mutation=Mutation(
            where="reproductions.paro.method.cluster:Cluster.parts",
            instead=around(lambda parts, self, granularity: parts(self, "N")),
            breaks="The formula splits nothing.",
        ),
        double=False,
        patches=(RANKS,),
    ),
)
