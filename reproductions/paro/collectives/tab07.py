"""Table 7: time to bring new parameters from the optimizer states' granularity to theirs."""

from reproductions.paro.collectives.table import between_granularities, cost_task

task = cost_task(7, "sync_p", between_granularities("parameters"))
