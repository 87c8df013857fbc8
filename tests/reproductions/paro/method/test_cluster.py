"""Clusters and workloads: what they count, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import SpecError
from reproductions.paro.method.cluster import Cluster, Workload

PAPER = {"num_gpus": 32, "group_size": 8, "inter_gbit_per_s": 80.0, "intra_gbit_per_s": 2000.0}
WORK = {"num_params": 7e9}


def test_a_cluster_counts_groups_parts_and_bytes() -> None:
    cluster = Cluster(**PAPER)  # type: ignore[arg-type]
    assert cluster.num_groups == 4
    assert (cluster.inter_bytes_per_s, cluster.intra_bytes_per_s) == (10e9, 250e9)
    assert [cluster.parts(each) for each in ("N", "I", "G")] == [1, 8, 32]  # type: ignore[arg-type]
    assert cluster.sharing == 1
    assert Cluster(**PAPER, nic="shared").sharing == 8  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        (Cluster, {**PAPER, "group_size": 5}, "n=32 GPUs do not fill groups of m=5: n must be"),
        (Cluster, {**PAPER, "group_size": 0}, "at least one of each"),
        (Cluster, {**PAPER, "inter_gbit_per_s": 0.0}, "B=0 Gbit/s: need a finite one above 0"),
        (Cluster, {**PAPER, "nic": "foo"}, "nic='foo': one of rail, shared"),
        (Cluster, {**PAPER, "num_gpus": 8.0}, "num_gpus=8.0: need a whole number"),
        (Workload, {"num_params": 0.0}, "num_params=0"),
        (Workload, {**WORK, "trainable_share": 0.0}, r"share in \(0, 1\]"),
        (Workload, {**WORK, "accumulation": 0}, "at least one micro-batch"),
    ],
)
def test_what_there_cannot_be_is_refused(kind: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        kind(**given)
