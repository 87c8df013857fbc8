"""Table 4: time to gather parameters for the forward and the backward pass of a micro-batch."""

from reproductions.paro.collectives.table import by_granularity, cost_task

task = cost_task(4, "param", by_granularity(only_whole=True))
