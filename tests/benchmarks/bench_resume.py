"""A finished sweep of 1,000 trials must be recognised in two seconds."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from tests.benchmarks.conftest import GoalFixture
from tests.benchmarks.sweeps import SweepWorkspace

NUM_TRIALS = 1000
NUM_ROUNDS = 5


def test_a_finished_sweep_is_recognised(goal: GoalFixture, tmp_path: Path) -> None:
    sweep = SweepWorkspace(tmp_path).install()
    num_trials = goal.size(NUM_TRIALS, tried=2)
    sweep.repro("run", "sweep/abl_empty", num_trials=num_trials)
    assert sweep.num_results("sweep/empty") == num_trials
    before = time.time()
    again = ("run", "sweep/abl_empty")
    samples = [sweep.repro(*again, num_trials=num_trials) for _ in range(1 + goal.size(NUM_ROUNDS))]
    records = (tmp_path / "root" / "runs" / "records" / "sweep" / "empty").glob("*.json")
    assert all(path.stat().st_mtime < before for path in records), "a finished trial ran again"
    timed = samples[1:]
    goal("resume_1000_trials", limit=2.0, unit="s", direction="at_most")(
        statistics.median(timed),
        samples=timed,
        note="the whole `repro run` of a finished sweep, table and verdicts rebuilt, median",
    )
