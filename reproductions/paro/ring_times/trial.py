"""From bandwidths to the time of an all-gather by every algorithm."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import get_args

from harness.declare import Row, RunContext
from reproductions.paro.method.cluster import Nic
from reproductions.paro.method.rings import WORLD
from reproductions.paro.ring_times.experiment import GPUS, Gather

SIZES = ("fixed", "weak")
"""fixed: as many bytes on any number of GPUs, as in the paper; weak: as many per GPU."""
LINKS = ("paper", "equal")


def gather_rows(gather: Gather, ctx: RunContext) -> list[Row]:
    """Return a row per algorithm and setting, each with what it saves over one ring."""
    rows: list[Row] = []
    for num_gpus, nic, size, links in product(GPUS, get_args(Nic), SIZES, LINKS):
        cluster = gather.cluster(num_gpus, nic)
        if links == "equal":
            cluster = replace(cluster, intra_gbit_per_s=cluster.inter_gbit_per_s)
        growth = num_gpus / GPUS[0] if size == "weak" else 1.0
        num_bytes = gather.total_gb * 1e9 * growth
        flat = WORLD["flat"](cluster, num_bytes)
        for algorithm, seconds in WORLD.items():
            time = seconds(cluster, num_bytes)
            rows.append(
                {
                    "num_gpus": num_gpus,
                    "nic": nic,
                    "size": size,
                    "links": links,
                    "algorithm": algorithm,
                    "gathered_bytes": num_bytes,
                    "time_ms": 1e3 * time,
                    "saved_ms": 1e3 * (flat - time),
                    "time_saved_percent": 100 * (1 - time / flat),
                    "speed_gained_percent": 100 * (flat / time - 1),
                }
            )
    return rows
