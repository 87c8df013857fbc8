"""Golden trials of live memory: few inner steps, bytes alone."""

from __future__ import annotations

from tests.golden_trials import Golden, Short
from tests.patches import Mutation, around

GOLDEN = (
    Golden(
        experiment="fg2u/live_memory",
        points=(Short(of={"depth": 8}, to={"depth": 6, "methods": "all"}),),
        mutation=Mutation(
            where="reproductions.fg2u.method.reverse:walked_back",
            instead=around(
                lambda walked, problem, *given, kept: walked(
                    problem, *given, kept=problem.num_steps
                )
            ),
            breaks="TRGU keeps the graph of every step.",
        ),
        # It counts what a model of float32 holds.
        double=False,
    ),
)
