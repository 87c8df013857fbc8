"""A finished sweep of 1,000 trials must be recognised in two seconds."""

from __future__ import annotations

import time
from pathlib import Path

from pytest_benchmark.fixture import BenchmarkFixture

from tests.benchmarks.goals import GoalFixture
from tests.benchmarks.sweeps import SweepWorkspace

NUM_TRIALS = 1000
NUM_ROUNDS = 5


def test_a_finished_sweep_is_recognised(
    goal: GoalFixture, benchmark: BenchmarkFixture, tmp_path: Path
) -> None:
    sweep = SweepWorkspace(tmp_path).install()
    sweep.repro("run", "sweep/abl_empty", num_trials=NUM_TRIALS)
    assert sweep.num_results("sweep/empty") == NUM_TRIALS
    samples: list[float] = []

    def run_again() -> None:
        samples.append(sweep.repro("run", "sweep/abl_empty", num_trials=NUM_TRIALS))

    before = time.time()
    benchmark.pedantic(run_again, rounds=NUM_ROUNDS, warmup_rounds=1)
    records = (tmp_path / "root" / "runs" / "records" / "sweep" / "empty").glob("*.json")
    assert all(path.stat().st_mtime < before for path in records), "a finished trial ran again"
    timed = sorted(samples[-NUM_ROUNDS:])
    goal("resume_1000_trials", limit=2.0, unit="s", direction="at_most")(
        timed[len(timed) // 2],
        samples=timed,
        note="the whole `repro run` of a finished sweep, table and verdicts rebuilt, median",
    )
