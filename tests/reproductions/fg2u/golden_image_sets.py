"""Golden trials of sets of images: two outer steps on digits, from noise and from a first phase."""

from __future__ import annotations

from typing import Any

from reproductions.fg2u.method.descent import adam
from tests.golden_trials import Golden, Short
from tests.patches import Mutation, around

FEW = {"test_steps": 3}
"""After so few steps rounding does not decide which class a digit is given."""
GOLDEN = (
    Golden(
        experiment="fg2u/image_sets",
        points=(Short(of={"method": "fg2u"}, to=FEW), Short(of={"ipc": 2}, to=FEW)),
        mutation=Mutation(
            where="reproductions.fg2u.image_sets.problem:MOMENTUM",
            instead=lambda momentum: 0.0,
            breaks="Inner steps have no momentum.",
        ),
    ),
    Golden(
        experiment="fg2u/image_sets_continued",
        points=(Short(to=FEW),),
        mutation=Mutation(
            where="reproductions.fg2u.image_sets.trial:falling_adam",
            instead=lambda falling: lambda num_steps: adam,
            breaks="Outer steps do not fall.",
        ),
    ),
    Golden(
        experiment="fg2u/alignments",
        points=(Short(to=FEW),),
        mutation=Mutation(
            where="reproductions.fg2u.method.reverse:walked_back",
            instead=around(lambda walked, *given, kept: _whole(walked, *given)),
            breaks="TRGU walks back every step.",
        ),
    ),
    Golden(
        experiment="fg2u/kernel_step",
        points=(Short(),),
        mutation=Mutation(
            where="reproductions.kernels.tangent_step.plain:step",
            instead=around(
                lambda step, rule, *given: step(rule._replace(lr=1.01 * rule.lr), *given)
            ),
            breaks="Inner steps with their tangents are a hundredth longer.",
        ),
        # The first step, two that are timed, and one whose bytes are counted.
        max_steps=4,
        double=False,
    ),
)


def _whole(walked: Any, problem: Any, *given: Any) -> Any:
    """Walk all steps back."""
    return walked(problem, *given, kept=problem.num_steps)
