"""Bytes that an optimizer step sends, by what they cross."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reproductions.paro.method.cluster import Cluster, Workload
from reproductions.paro.method.schedule import Collective, Step
from reproductions.paro.method.step_time import World, bytes_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Traffic:
    """Bytes of one optimizer step, or of one collective."""

    between: float
    """Out of a group: by one GPU of it in a ring of all GPUs, by all of them otherwise."""
    within: float
    """From a GPU to others of its group: the most that any sends."""


def traffic_of(found: Collective, cluster: Cluster, num_bytes: float, world: World) -> Traffic:
    """Return the bytes that a collective on `num_bytes` sends."""
    n, m, g = cluster.num_gpus, cluster.group_size, cluster.num_groups
    times = 2 if found.kind == "all_reduce" else 1
    whole = times * num_bytes
    one_ring = found.scope == "world" and world != "hier"
    between = {"intra": 0.0, "inter": (g - 1) / g}.get(
        found.scope, (n - 1) / n if one_ring and g > 1 else (g - 1) / g
    )
    within = {"inter": 0.0, "intra": (m - 1) / m}.get(
        found.scope, (n - 1) / n if one_ring and m > 1 else (m - 1) / m
    )
    return Traffic(between=between * whole, within=within * whole)


def step_traffic(
    steps: Iterable[Step], workload: Workload, cluster: Cluster, world: World = "flat"
) -> Traffic:
    """Return the bytes that a step's collectives send together."""
    parts = [
        (
            workload.accumulation if step.per_micro_batch else 1,
            traffic_of(step.collective, cluster, bytes_of(step.term, workload), world),
        )
        for step in steps
    ]
    return Traffic(
        between=sum(count * part.between for count, part in parts),
        within=sum(count * part.within for count, part in parts),
    )
