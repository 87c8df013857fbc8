"""Golden trials of the exact statements: all of them, for they are short."""

from __future__ import annotations

from typing import get_args

from reproductions.fg2u.identities.experiment import Statement
from tests.golden_trials import Golden, Mutation, Short, around

LATE = Mutation(
    where="reproductions.fg2u.method.reverse:walked_back",
    instead=around(
        lambda walked, *given, kept: walked(*given, kept=max(1, kept - 1)),
    ),
    breaks="A truncation keeps one step fewer than it says.",
)

GOLDEN = (
    Golden(
        experiment="fg2u/identities",
        points=tuple(Short(of={"statement": statement}) for statement in get_args(Statement)),
        mutation=LATE,
        double=False,
    ),
)
