"""Golden trials of the exact statements: all of them, for they are short."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from reproductions.fg2u.identities.experiment import Statement
from tests.golden_trials import Golden, Short
from tests.patches import Mutation, around

SHORTER = Mutation(
    where="reproductions.fg2u.method.reverse:Trgu.parts",
    instead=around(
        lambda parts, trgu, *given: parts(replace(trgu, keep=max(1, trgu.keep - 1)), *given)
    ),
    breaks="A truncation keeps one step fewer than it says.",
)

GOLDEN = (
    Golden(
        experiment="fg2u/identities",
        points=tuple(Short(of={"statement": statement}) for statement in get_args(Statement)),
        mutation=SHORTER,
        double=False,
    ),
)
