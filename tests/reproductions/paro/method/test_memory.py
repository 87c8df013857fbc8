"""Memory: at the paper's inputs, by hand, and how strategies compare."""

from __future__ import annotations

import pytest

from reproductions.paro.method.cluster import Workload, unlinked
from reproductions.paro.method.memory import memory_of
from reproductions.paro.method.strategy import strategy_of
from tests.reproductions.paro.method.printed import (
    CLUSTER,
    HPZ,
    PRINTED,
    STRATEGIES,
    Printed,
    unlike,
)


@pytest.mark.parametrize("setting", PRINTED, ids=lambda each: each.name)
def test_memory_is_as_worked_out_apart(setting: Printed) -> None:
    found = [memory_of(each, setting.workload, CLUSTER).total / 1e9 for each in STRATEGIES]
    assert unlike(found, setting.gigabytes) == []


def test_parts_of_memory_by_hand() -> None:
    cluster = unlinked(6, 3)
    workload = Workload(num_params=600, trainable_share=0.5)
    found = memory_of(strategy_of("IIG"), workload, cluster)
    # 2 bytes of 600 over 3; 2 of 300 over 3; 12 of 300 over 6.
    assert (found.params, found.grads, found.states) == (400.0, 200.0, 600.0)
    assert (found.second_params, found.total) == (0.0, 1200.0)


def test_a_second_copy_comes_on_top() -> None:
    workload = Workload(num_params=7e9)
    both = memory_of(HPZ, workload, CLUSTER)
    assert both.second_params == 2 * 7e9 / 8
    alone = memory_of(strategy_of("GGG"), workload, CLUSTER)
    assert both.total - alone.total == pytest.approx(both.second_params)
