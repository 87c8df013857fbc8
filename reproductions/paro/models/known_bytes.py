"""Known bytes over a link: what a testbed must carry in time before anything timed on it counts."""

from __future__ import annotations

from harness.declare import Criterion, within
from harness.declare.criterion import Quantity

OFF = 0.05
"""By how much their time may differ from what arithmetic says."""
FASTER_WITHIN = 4.0
"""How many times as fast as between groups links must be within; strategies rest on that they are,
and none of the claims on how much faster."""
TOLD = (
    "known bytes between groups take the time of arithmetic within 5 %, over links that are four"
    " times as fast within groups"
)


def in_time(quantity: Quantity) -> Criterion:
    """Ask that known bytes take the time that arithmetic says. quantity: the one over the other."""
    return within(quantity, 1 - OFF, 1 + OFF, "of the time by arithmetic")
