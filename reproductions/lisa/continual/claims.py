"""The positive control of claims on accuracy after continual pre-training."""

from __future__ import annotations

from functools import partial

from harness.declare import at_least
from reproductions.lisa.continual import quantities as q
from reproductions.lisa.models.claims import IN_HOUSE

LEAST_SOLVED = 0.2
SOLVING = IN_HOUSE.controlled(
    "full training solves a fifth of the problems",
    at_least(partial(q.accuracy_of, method="full", gamma=0), LEAST_SOLVED, "share"),
)
"""Where the in-house model learned to solve problems at all."""
