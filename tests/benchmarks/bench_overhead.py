"""The harness's own time must stay under 5 ms per trial."""

from __future__ import annotations

import statistics
from pathlib import Path

from tests.benchmarks.conftest import GoalFixture
from tests.benchmarks.sweeps import SweepWorkspace

FEW, MANY = 50, 650
NUM_REPEATS = 5


def test_a_trial_costs_little_of_its_own(goal: GoalFixture, tmp_path: Path) -> None:
    """Time two sweeps of empty trials; the difference leaves the start of the processes out."""
    sweep = SweepWorkspace(tmp_path).install()
    few, many = goal.size(FEW), goal.size(MANY, tried=2)
    samples = []
    for repeat in range(goal.size(NUM_REPEATS)):
        few_s, many_s = (
            sweep.repro(
                "run", "sweep/abl_empty", "--jobs", "1", num_trials=count, root=f"{repeat}-{count}"
            )
            for count in (few, many)
        )
        assert sweep.num_results("sweep/empty", f"{repeat}-{many}") == many
        samples.append(1e3 * (many_s - few_s) / (many - few))
    goal("trial_overhead", limit=5.0, unit="ms", direction="at_most")(
        statistics.median(samples),
        samples=samples,
        note=f"empty trials, one worker; wall time of {many} less that of {few}, per trial",
    )
