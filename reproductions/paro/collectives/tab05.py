"""Table 5: time to reduce gradients in the backward pass of a micro-batch."""

from __future__ import annotations

from reproductions.paro.collectives.claims import cost_task
from reproductions.paro.collectives.table import by_granularity

task = cost_task(5, "gradient", by_granularity())
