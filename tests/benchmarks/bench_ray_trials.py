"""Ten thousand trivial trials on a Ray cluster of this machine take less than three minutes."""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from harness.measure.contention import OthersWatch
from tests.benchmarks.conftest import GoalFixture
from tests.benchmarks.sweeps import SweepWorkspace


def test_ray_runs_ten_thousand_trials(goal: GoalFixture, tmp_path: Path) -> None:
    if find_spec("ray") is None:
        pytest.skip("needs Ray, which has an environment of its own: make setup EXTRAS=cluster,dev")
    sweep = SweepWorkspace(tmp_path).install()
    # Ray's workers are nobody's children: while they live they would count as others.
    watch = OthersWatch()
    time.sleep(1.0)
    others = watch.cores()
    count = goal.size(10_000, tried=20)
    seconds = sweep.repro("run", "sweep/abl_empty", "--executor", "ray", num_trials=count)
    assert sweep.num_results("sweep/empty") == count
    goal("ray_trials", limit=180.0, unit="s", direction="at_most")(
        seconds,
        note=f"{count} empty trials, with the start of the cluster and of its workers",
        other_cores=others,
    )
