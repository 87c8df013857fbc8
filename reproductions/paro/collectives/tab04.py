"""Table 4: time to gather parameters for the forward and the backward pass of a micro-batch."""

from __future__ import annotations

from harness.declare import at_least
from reproductions.paro.collectives import quantities as q
from reproductions.paro.collectives.checks import EXACT, cost_task
from reproductions.paro.collectives.table import by_granularity

task = cost_task(
    4,
    "param",
    by_granularity(only_whole=True),
    (
        "finer_takes_longer",
        EXACT,
        at_least(q.least_rise, 0, "s"),
        "Where links within groups are no slower than those between them, gathering takes no"
        " less time from I than from N, and from G than from I (least step).",
    ),
)
