"""Bytes that a plan prints, against those that the times of the same collectives imply."""

from __future__ import annotations

import pytest

from reproductions.paro.collectives.formulas import sent
from reproductions.paro.method.cluster import Cluster, Workload
from reproductions.paro.method.schedule import schedule
from reproductions.paro.method.step_time import World
from reproductions.paro.method.strategy import ALL, Strategy
from reproductions.paro.method.traffic import step_traffic

WORKLOAD = Workload(num_params=1260.0, trainable_share=0.5)


@pytest.mark.parametrize("world", ["flat", "hier"])
@pytest.mark.parametrize(("num_gpus", "group_size"), [(6, 3), (9, 3), (10, 2), (5, 5), (5, 1)])
@pytest.mark.parametrize("strategy", ALL, ids=str)
def test_bytes_are_those_of_the_formulas(
    strategy: Strategy, num_gpus: int, group_size: int, world: World
) -> None:
    """What the formulas say is what the simulator counts (paro/simulation)."""
    cluster = Cluster(
        num_gpus=num_gpus, group_size=group_size, inter_gbit_per_s=1.0, intra_gbit_per_s=1.0
    )
    terms = sent(strategy, WORKLOAD, cluster, world).values()
    found = step_traffic(schedule(strategy), WORKLOAD, cluster, world)
    assert found.between == pytest.approx(sum(term.link_bytes for term in terms))
    assert found.within == pytest.approx(sum(term.intra_bytes for term in terms))
