"""Times of collectives by bandwidth alone, as the paper reduces a network to it.

Letters: S bytes of the whole, n GPUs in g groups of m, B between groups, B' within.
PaRO-CC (Figure 2 and section 4.4, "HO-Ring" in the preprint) lays a ring of groups over rings of
GPUs; the text has no closed form of its time, these are worked out from that figure and the
released code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from reproductions.paro.method.cluster import Cluster
from reproductions.paro.method.schedule import Scope

Algorithm = Literal["flat", "sequential", "two_step", "row_pipeline"]


def ring_s(ranks: int, num_bytes: float, bytes_per_s: float) -> float:
    """Return the seconds of a ring's all-gather or reduce-scatter: (k - 1) / k of the bytes."""
    return (ranks - 1) / ranks * num_bytes / bytes_per_s


def intra_s(cluster: Cluster, num_bytes: float) -> float:
    """Return the seconds of a ring in every group, of `num_bytes` gathered or reduced in each."""
    return ring_s(cluster.group_size, num_bytes, cluster.intra_bytes_per_s)


def inter_s(cluster: Cluster, num_bytes: float) -> float:
    """Return the seconds of m rings at once between groups, of `num_bytes` each."""
    alone = ring_s(cluster.num_groups, num_bytes, cluster.inter_bytes_per_s)
    return cluster.sharing * alone


def rate_of(cluster: Cluster, scope: Scope) -> float:
    """Return the bytes per second that a ring waits for: of all GPUs, those of its slowest hop."""
    hops = []
    if scope != "inter" and cluster.group_size > 1:
        hops.append(cluster.intra_bytes_per_s)
    if scope != "intra" and cluster.num_groups > 1:
        hops.append(cluster.inter_bytes_per_s)
    return min(hops, default=cluster.intra_bytes_per_s)


def flat_s(cluster: Cluster, num_bytes: float) -> float:
    """Return the seconds of one ring of all GPUs.

    A ring crosses each border between groups once, so that a shared link is all its own.
    """
    return ring_s(cluster.num_gpus, num_bytes, rate_of(cluster, "world"))


def hop_and_row_s(cluster: Cluster, num_bytes: float) -> tuple[float, float]:
    """Return the seconds of one step between groups, and of the ring that spreads one row."""
    block = num_bytes / cluster.num_gpus
    hop = cluster.sharing * block / cluster.inter_bytes_per_s
    return hop, (cluster.group_size - 1) * block / cluster.intra_bytes_per_s


def sequential_s(cluster: Cluster, num_bytes: float) -> float:
    """Return the seconds of PaRO-CC one phase after another, as it was released."""
    hop, row = hop_and_row_s(cluster, num_bytes)
    return (cluster.num_groups - 1) * hop + cluster.num_groups * row


def two_step_s(cluster: Cluster, num_bytes: float) -> float:
    """Return the seconds where a group spreads its own row while others' arrive (Figure 2)."""
    hop, row = hop_and_row_s(cluster, num_bytes)
    others = cluster.num_groups - 1
    return max(others * hop, row) + others * row


def row_pipeline_s(cluster: Cluster, num_bytes: float) -> float:
    """Return the seconds where every row is spread as soon as it has arrived."""
    hop, row = hop_and_row_s(cluster, num_bytes)
    return max((cluster.num_groups - 1) * hop + row, cluster.num_groups * row)


WORLD: dict[Algorithm, Callable[[Cluster, float], float]] = {
    "flat": flat_s,
    "sequential": sequential_s,
    "two_step": two_step_s,
    "row_pipeline": row_pipeline_s,
}
"""Ways of an all-gather or reduce-scatter of all GPUs."""
