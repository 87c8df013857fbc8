"""What (FG)2U's theory says exactly, looked at on problems of a few variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from harness.declare import Estimate, Experiment, Params, Profile, doc

Statement = Literal["estimators", "directions", "descent", "biases", "costs"]


class Group(Params):
    """A group of statements that are looked at together."""

    statement: Statement = doc(
        "What is looked at: estimators against each other; directions, over all sign vectors;"
        " descent along estimates (Theorem 3.4); biases (Appendix B); costs, counted."
    )


def grid(profile: Profile) -> Iterator[Group]:
    """Yield every group, at `smoke` and at `cpu` alike: a larger scale shows nothing new."""
    if profile in ("smoke", "cpu"):
        yield from (Group(statement=statement) for statement in get_args(Statement))


groups = Experiment(
    "fg2u/identities",
    version=1,
    params=Group,
    grid=grid,
    run="trial:identity_rows",
    seed_from=(),
    estimate=lambda group: Estimate(seconds=0.5, memory_bytes=2**29),
    address=("statement",),
)
