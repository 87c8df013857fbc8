"""Golden trials of online adaptation: the smallest models, a few steps of each kind."""

from __future__ import annotations

from typing import Any

import torch

from tests.golden_trials import Golden, Short
from tests.patches import Mutation, around

BLIND = Mutation(
    where="reproductions.fg2u.models.adaptation:features",
    instead=around(lambda features, trunk, tokens: torch.zeros_like(features(trunk, tokens))),
    breaks="The weight model sees no token.",
)
READ = 8
"""Steps of Adam while the longest stream is read."""


def more_questions(asked: Any, questions: Any, window: int) -> Any:
    """Return four times as many questions."""
    return asked([*questions] * 4, window)


GOLDEN = (
    Golden(
        experiment="fg2u/adaptation_bases",
        points=(Short(of={"model": "small"}), Short(of={"model": "large"})),
        mutation=Mutation(
            where="reproductions.fg2u.models.stream:_share",
            instead=around(lambda share, step, recipe: 1.0),
            breaks="Base models have no warm-up and no decay.",
        ),
    ),
    Golden(experiment="fg2u/adaptation_first", points=(Short(),), mutation=BLIND, max_steps=READ),
    Golden(experiment="fg2u/adaptation_second", points=(Short(),), mutation=BLIND, max_steps=READ),
    Golden(
        experiment="fg2u/adaptation_costs",
        points=(Short(to={"rgu_depths": "6", "fg2u_depths": "6"}),),
        mutation=Mutation(
            where="reproductions.fg2u.adaptation.counting:asked",
            instead=around(more_questions),
            breaks="The outer loss has four times as many questions.",
        ),
        double=False,
    ),
)
