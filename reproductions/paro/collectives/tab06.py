"""Table 6: time to bring gradients to the optimizer states' granularity, once a step."""

from reproductions.paro.collectives.table import between_granularities, cost_task

task = cost_task(6, "sync_g", between_granularities("gradients"))
