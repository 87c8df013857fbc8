"""Golden trials of step time: what is timed, and the bytes that each estimate holds."""

from __future__ import annotations

from tests.golden_trials import Golden, Mutation, Short, around

GOLDEN = (
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
