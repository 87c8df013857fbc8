"""Clusters and workloads: what they count, and what is refused."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from harness.errors import SpecError
from reproductions.paro.method.cluster import Cluster, Workload

PAPER = {"num_gpus": 32, "group_size": 8, "inter_gbit_per_s": 80.0, "intra_gbit_per_s": 2000.0}


def test_a_cluster_counts_groups_parts_and_bytes() -> None:
    cluster = Cluster(**PAPER)  # type: ignore[arg-type]
    assert cluster.num_groups == 4
    assert (cluster.inter_bytes_per_s, cluster.intra_bytes_per_s) == (10e9, 250e9)
    assert [cluster.parts(each) for each in ("N", "I", "G")] == [1, 8, 32]  # type: ignore[arg-type]
    assert cluster.sharing == 1
    assert Cluster(**PAPER, nic="shared").sharing == 8  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"group_size": 5}, "n=32 GPUs do not fill groups of m=5: n must be a multiple"),
        ({"num_gpus": 0}, "at least one of each"),
        ({"group_size": 0}, "at least one of each"),
        ({"inter_gbit_per_s": 0.0}, "bandwidth B=0 Gbit/s: need a finite one above 0"),
        ({"intra_gbit_per_s": inf}, "bandwidth B'=inf"),
        ({"intra_gbit_per_s": nan}, "bandwidth B'=nan"),
        ({"nic": "foo"}, "nic='foo': one of rail, shared"),
        ({"num_gpus": 8.0}, "num_gpus=8.0: need a whole number"),
        ({"group_size": True}, "group_size=True: need a whole number"),
        ({"num_gpus": 8 * 10**9}, "num_gpus is more than 1,000,000,000"),
    ],
)
def test_no_cluster_of_these(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        Cluster(**{**PAPER, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"num_params": 0.0}, "num_params=0"),
        ({"num_params": nan}, "num_params=nan"),
        ({"trainable_share": 0.0}, r"share in \(0, 1\]"),
        ({"accumulation": 0}, "at least one micro-batch"),
        ({"accumulation": 1.5}, "accumulation=1.5: need a whole number"),
        ({"accumulation": 10**400}, "accumulation is more than"),
        ({"grad_bytes": -2}, "grad_bytes=-2: need a number, at least 0"),
    ],
)
def test_no_workload_of_these(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        Workload(**{"num_params": 7e9, **changed})


def test_a_share_of_the_parameters_trains() -> None:
    assert Workload(num_params=64e9, trainable_share=1 / 16).num_trainable == 4e9
