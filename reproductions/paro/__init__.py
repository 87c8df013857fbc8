"""PaRO (NeurIPS 2024, OpenReview 4Un2TD9bNe): how to split what training holds over GPUs.

Usable alone, before a cluster is rented:

    cluster = Cluster(num_gpus=32, group_size=8, inter_gbit_per_s=80, intra_gbit_per_s=2000)
    workload = Workload(num_params=7e9, accumulation=10)
    best = ranked(predict(workload, cluster, memory_bytes=20e9))[0]
    print(best.strategy, best.time.total, best.memory.total)
"""

from __future__ import annotations

from reproductions.paro.method.blocks import blocks_of
from reproductions.paro.method.cluster import Cluster, Workload
from reproductions.paro.method.guideline import Prediction, pareto_front, predict, ranked
from reproductions.paro.method.memory import Memory, memory_of
from reproductions.paro.method.schedule import schedule
from reproductions.paro.method.step_time import StepTime, TimeModel, step_time
from reproductions.paro.method.strategy import ALL, EFFECTIVE, Strategy, effective_of, strategy_of

__all__ = [
    "Cluster",
    "Workload",
    "Strategy",
    "ALL",
    "EFFECTIVE",
    "strategy_of",
    "effective_of",
    "Memory",
    "memory_of",
    "schedule",
    "TimeModel",
    "StepTime",
    "step_time",
    "predict",
    "Prediction",
    "ranked",
    "pareto_front",
    "blocks_of",
]
