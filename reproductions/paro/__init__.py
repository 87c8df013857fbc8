"""PaRO (NeurIPS 2024, OpenReview 4Un2TD9bNe): how to split what training holds over GPUs.

Usable alone, before a cluster is rented:

    cluster = Cluster(num_gpus=32, group_size=8, inter_gbit_per_s=80, intra_gbit_per_s=2000)
    workload = Workload(num_params=7e9, accumulation=10)
    best = ranked(predict(workload, cluster, memory_bytes=20e9))[0]
    print(best.strategy, best.time.total, best.memory.total)

and to train by a strategy, on ranks of torch.distributed:

    engine = Paro(model, mesh_of_groups(8), "IIG", optimizer=partial(AdamW, lr=1e-4))
    engine.backward(model(batch).mean())
    engine.step()
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reproductions.paro.method.blocks import blocks_of
from reproductions.paro.method.cluster import Cluster, Workload
from reproductions.paro.method.guideline import Prediction, pareto_front, predict, ranked
from reproductions.paro.method.memory import Memory, memory_of
from reproductions.paro.method.schedule import schedule
from reproductions.paro.method.step_time import StepTime, TimeModel, step_time
from reproductions.paro.method.strategy import ALL, EFFECTIVE, Strategy, effective_of, strategy_of

if TYPE_CHECKING:
    from reproductions.paro.method.engine import Paro, Precision, mesh_of_groups

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
    "Paro",
    "Precision",
    "mesh_of_groups",
]

_NEED_TORCH = ("Paro", "Precision", "mesh_of_groups")


def __getattr__(name: str) -> Any:
    # Declarations import this package too, and listing tasks must not load torch.
    if name in _NEED_TORCH:
        return getattr(import_module(f"{__name__}.method.engine"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
