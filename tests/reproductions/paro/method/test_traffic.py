"""Bytes that collectives send, by hand."""

from __future__ import annotations

import pytest

from reproductions.paro.method.cluster import Cluster, Workload, unlinked
from reproductions.paro.method.schedule import Collective, schedule
from reproductions.paro.method.step_time import World
from reproductions.paro.method.strategy import strategy_of
from reproductions.paro.method.traffic import step_traffic, traffic_of


def told(found: Collective, cluster: Cluster, num_bytes: float, world: World) -> tuple[float, ...]:
    sent = traffic_of(found, cluster, num_bytes, world)
    return sent.between, sent.within, sent.between_by_one


def test_bytes_by_hand() -> None:
    """32 GPUs in 4 groups, 32 bytes: a ring of all sends 31 on every hop."""
    cluster = unlinked(32, 8)
    gather = Collective(kind="all_gather", scope="world")
    assert told(gather, cluster, 32.0, "flat") == (31.0, 31.0, 31.0)
    # Two layers: three of four groups' parts come in, and 7/8 is spread within.
    assert told(gather, cluster, 32.0, "hier") == (24.0, 28.0, 3.0)
    inter = Collective(kind="all_reduce", scope="inter")
    assert told(inter, cluster, 32.0, "flat") == (48.0, 0.0, 6.0)
    intra = Collective(kind="reduce_scatter", scope="intra")
    assert told(intra, cluster, 32.0, "flat") == (0.0, 28.0, 0.0)


def test_a_step_sends_what_its_collectives_do_micro_batch_by_micro_batch() -> None:
    """IIG: three rings within groups in each of three, and two between them after the last."""
    load = Workload(num_params=1260.0, trainable_share=0.5, accumulation=3)
    sent = step_traffic(schedule(strategy_of("IIG")), load, unlinked(6, 3))
    assert sent.within == pytest.approx(3 * (2 * 2520 + 1260) * 2 / 3)
    assert sent.between == pytest.approx(2 * 1260 / 2)
