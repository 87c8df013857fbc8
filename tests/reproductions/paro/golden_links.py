"""Golden trials on the testbed: ranks run once for all runs of a trial, and times are not rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from reproductions.paro.method.testbed.launch import Ran
from tests.golden_trials import Golden, Short
from tests.patches import Mutation, Patch, around

SAID: dict[str, Ran] = {}
"""What ranks said, by what they were told."""


def once(run: Callable[..., Ran], function: Any, params: Any, cluster: Any, **more: Any) -> Ran:
    """Return what ranks say: they are processes of their own, which no mutation reaches."""
    told = json.dumps([function.__name__, params, asdict(cluster)])
    if told not in SAID:
        SAID[told] = run(function, params, cluster, **more)
    return SAID[told]


ONCE = Patch(where="reproductions.paro.links.trial:run_ranks", instead=around(once))
GOLDEN = (
    Golden(
        experiment="paro/link_bandwidths",
        points=(Short(),),
        mutation=Mutation(
            where="reproductions.paro.method.cluster:Cluster.sharing",
            instead=lambda sharing: property(lambda self: 1),
            breaks="Ranks of a group are given a whole link each.",
        ),
        double=False,
        patches=(ONCE,),
    ),
    Golden(
        experiment="paro/gather_times",
        points=(Short(),),
        mutation=Mutation(
            where="reproductions.paro.links.trial:traffic_of",
            instead=around(lambda traffic, found, *rest: traffic(found, *rest[:-1], "flat")),
            breaks="PaRO-CC is said to send what one ring sends.",
        ),
        double=False,
        patches=(ONCE,),
    ),
)
