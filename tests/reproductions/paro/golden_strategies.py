"""Golden trials of the strategies: every one, for they are arithmetic."""

from __future__ import annotations

from tests.golden_trials import Golden, Short
from tests.patches import Mutation, around

FINER_MEMORY = Mutation(
    where="reproductions.paro.method.guideline:memory_of",
    instead=around(
        lambda memory, strategy, workload, cluster: memory(strategy.kept, workload, cluster)
    ),
    breaks="Coarser optimizer states take no memory.",
)
ONE_PASS = Mutation(
    where="reproductions.paro.method.step_time:schedule",
    instead=around(
        lambda schedule, *given, **named: (
            step for step in schedule(*given, **named) if step.during != "backward"
        )
    ),
    breaks="The backward pass gathers no parameters.",
)

GOLDEN = (
    Golden(
        experiment="paro/strategy_sweep",
        points=(Short(of={"world": "flat"}), Short(of={"world": "hier"})),
        mutation=FINER_MEMORY,
        double=False,
    ),
    Golden(
        experiment="paro/strategy_costs",
        points=(Short(of={"trainable_share": 1 / 16}),),
        mutation=ONE_PASS,
        double=False,
    ),
)
