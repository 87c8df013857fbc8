"""Golden trials of condensation: two outer steps of a phase on digits, and a short inner run."""

from __future__ import annotations

from tests.golden_trials import Golden, Short
from tests.patches import Mutation, around

FEW_NETS = {"num_nets": 2, "test_steps": 10}
"""Of one test digit in 500 or of none, rounding does not decide after so few steps."""
GOLDEN = (
    Golden(
        experiment="fg2u/condensing",
        points=(
            Short(of={"second": "fg2u"}, to=FEW_NETS),
            Short(of={"method": "rgu"}, to={**FEW_NETS, "steps": 2}),
        ),
        mutation=Mutation(
            where="reproductions.fg2u.models.condensation:MOMENTUM",
            instead=lambda momentum: 0.0,
            breaks="Inner steps have no momentum.",
        ),
    ),
    Golden(
        experiment="fg2u/inner_run",
        points=(Short(to={"num_steps": 20}),),
        mutation=Mutation(
            where="reproductions.fg2u.inner_run.trial:norm",
            instead=around(lambda norm, tree: norm(tree).square()),
            breaks="The square of the gradient's norm stands for the norm.",
        ),
    ),
)
