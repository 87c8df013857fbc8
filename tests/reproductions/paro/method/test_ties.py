"""Strategies that send the same are told apart by memory, not by rounding."""

from __future__ import annotations

import pytest

from reproductions.paro import Cluster, Workload, predict, ranked, strategy_of
from reproductions.paro.method.step_time import TimeModel, World

PAPERS = Cluster(num_gpus=32, group_size=8, inter_gbit_per_s=80, intra_gbit_per_s=2000)


@pytest.mark.parametrize("world", ["flat", "hier"])
@pytest.mark.parametrize("num_params", [7e9, 65e9])
@pytest.mark.parametrize("share", [1.0, 1 / 16, 3 / 1000])
def test_iig_goes_before_iii(world: World, num_params: float, share: float) -> None:
    workload = Workload(num_params=num_params, trainable_share=share, accumulation=10)
    both = [strategy_of("III"), strategy_of("IIG")]
    found = ranked(predict(workload, PAPERS, TimeModel(world=world), strategies=both))
    assert [each.strategy.letters for each in found] == ["IIG", "III"]
    assert found[0].time.total == found[1].time.total
