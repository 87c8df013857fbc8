"""Golden trials of Figure 1: what methods hold and take, and what is timed."""

from __future__ import annotations

from tests.golden_trials import Golden, Short
from tests.patches import Mutation, around

FEW = {"depth": 2, "long_depth": 3, "kept_steps": 1}

GOLDEN = (
    Golden(
        experiment="fg2u/capabilities",
        points=tuple(
            Short(of={"method": method}, to=FEW) for method in ("rgu", "neumann", "trgu", "fg2u")
        ),
        mutation=Mutation(
            where="reproductions.fg2u.method.reverse:Trgu.parts",
            instead=around(
                lambda parts, self, problem, *rest: parts(
                    type(self)(keep=problem.num_steps, measure_memory=self.measure_memory),
                    problem,
                    *rest,
                )
            ),
            breaks="TRGU keeps all steps.",
        ),
        double=False,
    ),
    Golden(
        experiment="fg2u/step_time",
        # In this process, where a mutation is seen.
        points=(Short(to={"max_workers": 1}),),
        mutation=Mutation(
            where="reproductions.fg2u.method.forward:_chunks",
            instead=around(lambda chunks, numbers, size: chunks(numbers, len(numbers))),
            breaks="All directions are carried at once, whatever the chunk.",
        ),
        double=False,
    ),
)
