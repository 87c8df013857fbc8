"""What the method's formulas say that a GPU sends, in bytes."""

from __future__ import annotations

from dataclasses import dataclass

from reproductions.paro.method.cluster import Cluster, Nic, Workload
from reproductions.paro.method.schedule import Collective, Term, schedule
from reproductions.paro.method.step_time import StepTime, TimeModel, World, step_time
from reproductions.paro.method.strategy import Strategy

BYTE_PER_S = 8e-9
"""In Gbit/s: a second is a byte."""
NO_TIME = 1e30
"""Bandwidth beside which no byte counts, in Gbit/s."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """What a term sends in one of its turns, by the formulas."""

    inter_bytes: float
    """By the busiest GPU, out of its group."""
    intra_bytes: float
    link_bytes: float
    """Out of the busiest group, whose GPUs share a link."""
    rounds: int
    """Rounds in which every GPU of a ring sends one message."""


def sent(
    strategy: Strategy, workload: Workload, cluster: Cluster, world: World
) -> dict[Term, Sent]:
    """Return what every term sends: seconds at one byte per second where no other link counts."""
    rounds = dict.fromkeys(("param", "gradient", "sync_g", "sync_p"), 0)
    for step in schedule(strategy):
        rounds[step.term] += rounds_of(step.collective, cluster, world)

    def by(inter: float, intra: float, nic: Nic = "rail") -> StepTime:
        links = Cluster(
            num_gpus=cluster.num_gpus, group_size=cluster.group_size,
            inter_gbit_per_s=inter, intra_gbit_per_s=intra, nic=nic,
        )  # fmt: skip
        return step_time(strategy, workload, links, TimeModel(world=world))

    between, within = by(BYTE_PER_S, NO_TIME), by(NO_TIME, BYTE_PER_S)
    shared = by(BYTE_PER_S, NO_TIME, "shared")
    return {
        term: Sent(
            inter_bytes=between.terms[term],
            intra_bytes=within.terms[term],
            link_bytes=shared.terms[term],
            rounds=rounds[term],
        )
        for term in between.terms
    }


def rounds_of(collective: Collective, cluster: Cluster, world: World) -> int:
    """Return a collective's rounds: one less than its ring has GPUs, ring after ring."""
    times = 2 if collective.kind == "all_reduce" else 1
    if collective.scope == "world" and world == "hier":
        groups = cluster.num_groups
        return times * (groups - 1 + groups * (cluster.group_size - 1))
    return times * (collective.ranks(cluster) - 1)
