"""Table 5: time to reduce gradients in the backward pass of a micro-batch."""

from __future__ import annotations

from harness.declare import at_least
from reproductions.paro.collectives import quantities as q
from reproductions.paro.collectives.checks import EXACT, cost_task
from reproductions.paro.collectives.table import by_granularity

task = cost_task(
    5,
    "gradient",
    by_granularity(),
    (
        "finer_takes_longer",
        EXACT,
        at_least(q.least_rise, 0, "s"),
        "Where links within groups are no slower than those between them, reducing takes no"
        " less time to I than to N, and to G than to I (least step).",
    ),
)
