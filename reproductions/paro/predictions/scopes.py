"""Where what is said of predictions is decided, and what several tasks ask."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from harness.declare import (
    CHECK,
    CPU,
    SMOKE_AND_CPU,
    Criterion,
    Scope,
    at_least,
    by_theory,
    more_than,
    ours,
    pick,
)
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import ONE_RING

if TYPE_CHECKING:
    import pandas as pd

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


def quoted_ratio(reference: pd.DataFrame, *, series: str, over: str) -> float:
    """Return a gain in percent as the ratio of speeds that section 4.3's wording makes of it."""
    (row,) = pick(reference, series=series, y_name=f"throughput_gain_over_{over}").to_dict(
        "records"
    )
    return 1.0 + float(row["value"]) / 100.0


def faster(*pairs: tuple[str, str, str]) -> Criterion:
    """Ask that in every (model, strategy, other) the first is the faster one."""
    ratios = partial(q.speed_ratios, pairs=pairs, where=ONE_RING)
    return more_than(ratios, 1, "times the speed").naming(
        *(f"{model} {one} over {other}" for model, one, other in pairs)
    )
