"""Table 5: time to reduce gradients in the backward pass of a micro-batch."""

from reproductions.paro.collectives.table import by_granularity, cost_task

task = cost_task(5, "gradient", by_granularity())
