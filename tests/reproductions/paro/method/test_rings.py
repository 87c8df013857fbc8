"""Times of rings by hand, and how the ways of a collective of all GPUs compare."""

from __future__ import annotations

import pytest

from reproductions.paro.method.cluster import Cluster, Nic
from reproductions.paro.method.rings import (
    WORLD,
    Algorithm,
    flat_s,
    inter_s,
    intra_s,
    ring_s,
    two_step_s,
)

GB = 1e9


def cluster_of(
    num_gpus: int = 32, group_size: int = 8, *, intra: float = 2000.0, nic: Nic = "rail"
) -> Cluster:
    return Cluster(
        num_gpus=num_gpus, group_size=group_size, inter_gbit_per_s=80.0, intra_gbit_per_s=intra,
        nic=nic,
    )  # fmt: skip


def test_rings_by_hand() -> None:
    # 3/4 of 8 GB at 2 GB/s.
    assert ring_s(4, 8 * GB, 2 * GB) == 3.0
    assert ring_s(1, 8 * GB, 2 * GB) == 0.0
    # B = 10 GB/s, B' = 250 GB/s.
    assert intra_s(cluster_of(), 2 * GB) == pytest.approx(7 / 8 * 2 / 250)
    assert inter_s(cluster_of(), 2 * GB) == pytest.approx(3 / 4 * 2 / 10)
    assert flat_s(cluster_of(), 2 * GB) == pytest.approx(31 / 32 * 2 / 10)


@pytest.mark.parametrize(
    ("intra", "ways"),
    [
        # 1 GB in 32 blocks, at 80 Gbit/s a hop takes 3.125 ms. A row: 7 blocks at 250 GB/s.
        (2000.0, {"sequential": 12.875, "two_step": 12.0, "row_pipeline": 10.25}),
        # At 1.25 GB/s a row takes 175 ms, and all hops are over before the second one.
        (10.0, {"sequential": 709.375, "two_step": 700.0, "row_pipeline": 700.0}),
    ],
)
def test_hops_and_rows_by_hand(intra: float, ways: dict[Algorithm, float]) -> None:
    cluster = cluster_of(intra=intra)
    assert {way: WORLD[way](cluster, GB) * 1e3 for way in ways} == pytest.approx(ways)


@pytest.mark.parametrize(("num_gpus", "ms"), [(16, 93.8), (32, 96.9), (64, 98.4), (128, 99.2)])
def test_the_flat_ring_of_section_4_4(num_gpus: int, ms: float) -> None:
    """1 GB at 80 Gbit/s."""
    assert flat_s(cluster_of(num_gpus), GB) * 1e3 == pytest.approx(ms, abs=0.05)


@pytest.mark.parametrize(
    ("nic", "saved"),
    [("rail", {16: 0.91, 128: 0.85}), ("shared", {16: 0.45, 32: 0.20, 64: 0.08, 128: 0.02})],
)
def test_what_two_steps_save(nic: Nic, saved: dict[int, float]) -> None:
    for num_gpus, share in saved.items():
        cluster = cluster_of(num_gpus, nic=nic)
        found = 1.0 - two_step_s(cluster, GB) / flat_s(cluster, GB)
        assert found == pytest.approx(share, abs=0.005)


def test_one_group_is_on_its_own_links_and_groups_of_one_on_theirs() -> None:
    alone, apart = cluster_of(8, 8), cluster_of(8, 1)
    for way in WORLD.values():
        assert way(alone, GB) == pytest.approx(ring_s(8, GB, 250e9))
        assert way(apart, GB) == pytest.approx(ring_s(8, GB, 10e9))
        assert way(cluster_of(1, 1), GB) == 0.0


def test_a_shared_link_slows_what_all_gpus_send_at_once() -> None:
    rail, shared = cluster_of(), cluster_of(nic="shared")
    assert inter_s(shared, GB) == pytest.approx(8 * inter_s(rail, GB))
    # A ring crosses each border once.
    assert flat_s(shared, GB) == flat_s(rail, GB)
