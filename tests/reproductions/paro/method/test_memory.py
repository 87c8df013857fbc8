"""Memory at the paper's inputs, as worked out apart from the code."""

from __future__ import annotations

import pytest

from reproductions.paro.method.cluster import Workload
from reproductions.paro.method.memory import memory_of
from tests.reproductions.paro.method.printed import CLUSTER, PRINTED, STRATEGIES, unlike


@pytest.mark.parametrize(("workload", "gigabytes", "_"), PRINTED.values(), ids=PRINTED)
def test_memory_is_as_worked_out_apart(workload: Workload, gigabytes: str, _: str) -> None:
    found = [memory_of(each, workload, CLUSTER).total / 1e9 for each in STRATEGIES]
    assert unlike(found, gigabytes) == []
