"""Bytes that collectives send: the seconds that they would take at one byte per second."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import fsum

from reproductions.paro.method.cluster import MOST_GBIT, Cluster, Nic, Workload
from reproductions.paro.method.schedule import Collective, Step
from reproductions.paro.method.step_time import TimeModel, World, bytes_of

BYTE_PER_S = 8e-9
"""In Gbit/s."""
DIGITS = 6
"""Decimals of a byte: what is less is rounding, or the time of a link that takes none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Traffic:
    """Bytes of one optimizer step, or of one collective."""

    between: float
    """Out of a group: by one GPU of it in a ring of all GPUs, by all of them otherwise."""
    within: float
    """From a GPU to others of its group: the most that any sends."""
    between_by_one: float
    """Out of a group by the GPU of it that sends most."""


def traffic_of(found: Collective, cluster: Cluster, num_bytes: float, world: World) -> Traffic:
    """Return the bytes that a collective on `num_bytes` sends."""

    def sent(inter: float, intra: float, nic: Nic) -> float:
        links = replace(cluster, inter_gbit_per_s=inter, intra_gbit_per_s=intra, nic=nic)
        return round(TimeModel(world=world).collective_s(found, links, num_bytes), DIGITS)

    return Traffic(
        # A link that a group shares carries what all of its GPUs send.
        between=sent(BYTE_PER_S, MOST_GBIT, "shared"),
        within=sent(MOST_GBIT, BYTE_PER_S, "rail"),
        between_by_one=sent(BYTE_PER_S, MOST_GBIT, "rail"),
    )


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
        between=fsum(count * part.between for count, part in parts),
        within=fsum(count * part.within for count, part in parts),
        between_by_one=fsum(count * part.between_by_one for count, part in parts),
    )
