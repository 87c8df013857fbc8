"""Two processes must give at least 1.65 times the sweep throughput of one."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest
from goals import GoalFixture
from sweeps import SweepWorkspace

from harness.measure.machine import num_cores

FEW, MANY = 2, 14
NUM_REPEATS = 3


def test_two_processes_beat_one(goal: GoalFixture, tmp_path: Path) -> None:
    """Time sweeps of real trials; a difference of two leaves the start of the workers out."""
    if num_cores() < 2:
        pytest.skip("needs two cores")
    sweep = SweepWorkspace(tmp_path).install()
    gains = []
    for repeat in range(NUM_REPEATS):
        one, two = (_seconds_a_trial(sweep, jobs, repeat) for jobs in (1, 2))
        gains.append(one / two)
    goal("two_process_throughput", limit=1.65, unit="ratio", direction="at_least")(
        statistics.median(gains),
        samples=gains,
        note="width 256, 2 layers, context 64, batch 8, 20 steps a trial; trials a second,"
        " two processes over one, workers already started",
    )


def _seconds_a_trial(sweep: SweepWorkspace, jobs: int, repeat: int) -> float:
    few_s, many_s = (
        sweep.repro(
            "run",
            "sweep/abl_training",
            "--jobs",
            str(jobs),
            num_trials=count,
            root=f"{repeat}-{jobs}-{count}",
        )
        for count in (FEW, MANY)
    )
    return (many_s - few_s) / (MANY - FEW)
