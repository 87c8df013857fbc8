"""Golden trials of predictions: they are arithmetic, and whole."""

from __future__ import annotations

from tests.golden_trials import Golden, Short
from tests.patches import Mutation, around

GOLDEN = (
    Golden(
        experiment="paro/predictions",
        points=(Short(of={"about": "scaling"}),),
        mutation=Mutation(
            where="reproductions.paro.method.schedule:reduce_per_micro_batch",
            instead=around(lambda reduced, grads: iter(())),
            breaks="No micro-batch reduces its gradients.",
        ),
    ),
    Golden(
        experiment="paro/compute_times",
        points=(Short(),),
        mutation=Mutation(
            where="reproductions.paro.method.step_time:bytes_of",
            instead=around(lambda moved, term, workload: 2 * workload.num_params),
            breaks="Frozen parameters are reduced and sent anew as if they trained.",
        ),
    ),
)
