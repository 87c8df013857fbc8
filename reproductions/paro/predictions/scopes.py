"""Where what is said of predictions is decided."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from harness.declare import (
    CHECK,
    CPU,
    SMOKE_AND_CPU,
    Criterion,
    Scope,
    at_least,
    by_theory,
    ours,
)
from reproductions.paro.predictions import quantities as q

ELSEWHERE = "the formulas are the same at every scale"
EXACT = CHECK.at(*SMOKE_AND_CPU, elsewhere=ELSEWHERE)
FORMULA = by_theory(profiles=CPU, elsewhere=ELSEWHERE, deterministic=True)
"""What the paper says of its results or its guideline, and its formulas may deny."""
NEAR = ours("DEV-22", profiles=CPU, elsewhere=ELSEWHERE, deterministic=True).asked_by_us()
SET = CHECK.at(*CPU, elsewhere=ELSEWHERE)
"""What the paper says of speeds, and no model, trainable share, number of micro-batches or cluster
can deny: a ring waits for its slowest hop, so that Z >= X + Y. A test asks random ones."""


def same_best_when_shared(
    named: Mapping[str, tuple[str, ...]], model: str
) -> tuple[str, Scope, Criterion, str]:
    """Return our question whether the named ones are best where a group shares one link.

    named: by what trains.
    """
    criterion = at_least(partial(q.named_when_shared, named=dict(named)), 1, "of the named")
    return (
        "same_best_when_shared",
        FORMULA.asked_by_us(),
        criterion.naming(
            *("all trained" if share == "1" else f"{share} trained" for share in named)
        ),
        f"The guideline names the same strategies for {model} where a group shares one link.",
    )
