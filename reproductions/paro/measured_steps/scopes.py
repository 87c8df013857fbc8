"""Where what is asked of measured steps is decided."""

from __future__ import annotations

from functools import partial

from harness.declare import (
    CHECK,
    CPU,
    SMOKE_AND_CPU,
    Criterion,
    Scope,
    at_least,
    equal,
    more_than,
    ours,
    within,
)
from reproductions.paro.measured_steps import quantities as q

ELSEWHERE = "at `smoke` a step is too short to be compared"
DEVIATION = "DEV-45"
MEASURED = ours(DEVIATION, profiles=CPU, elsewhere=ELSEWHERE)
"""A claim of the paper on speed, asked of ranks on a testbed."""
COUNTED = CHECK.at(*SMOKE_AND_CPU, elsewhere="this profile has no testbed")
LEAST_CORRELATION, MOST_EXCESS = 0.8, 0.08


def faster(
    id: str, one: str, over: str, baseline: str, said: str
) -> tuple[str, Scope, Criterion, str]:
    """Return the claim that a strategy is the faster one. said: what the paper has."""
    return (
        id,
        MEASURED,
        more_than(partial(q.speed_ratio, one=one, over=over), 1, "times the speed"),
        f"On ranks over shaped links {one} trains a small net faster than {baseline} (the paper:"
        f" {said}).",
    )


def follows_guideline(id: str, where: q.Where, words: str) -> tuple[str, Scope, Criterion, str]:
    """Return the claim that predicted and measured times are in one order."""
    return (
        id,
        MEASURED,
        at_least(partial(q.rank_correlation, where=where), LEAST_CORRELATION, "rank correlation"),
        "Times of the 14 strategies are in the guideline's order, within few errors: Spearman's"
        f" correlation at least {LEAST_CORRELATION}, predictions within 5 % counted as equal"
        f" ({words}).",
    )


COUNTS = (
    (
        "holds_the_formulas_bytes",
        COUNTED,
        equal(q.held_error, 0, "bytes"),
        "Every strategy keeps parameters, gradients and Adam's moments of as many bytes per rank as"
        " the formula says (largest difference).",
    ),
    (
        "sends_the_formulas_bytes",
        COUNTED,
        equal(q.sent_error, 0, "bytes"),
        "Every strategy sends as many bytes out of a group per step as the formula says (largest"
        " difference, counted at the engine's messages).",
    ),
)
INTERFACES = (
    (
        "interfaces_send_little_more",
        ours(
            DEVIATION,
            profiles=CPU,
            elsewhere="in small messages headers are more than what they carry",
            deterministic=True,
        ).asked_by_us(),
        within(q.interface_excess, 0, MOST_EXCESS, "share above the formula").naming(
            "least of any strategy", "most of any strategy"
        ),
        "At the interfaces between groups, with headers, no strategy sends fewer bytes than the"
        " formula says, and none more than 8 % above it.",
    ),
)
