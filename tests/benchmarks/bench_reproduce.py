"""`make reproduce` must take less than three minutes after set-up."""

from __future__ import annotations

from pathlib import Path

from harness.measure.machine import num_cores
from tests.benchmarks.goals import GoalFixture
from tests.benchmarks.sweeps import SweepWorkspace


def test_reproduce_is_done_in_three_minutes(goal: GoalFixture, tmp_path: Path) -> None:
    """Run what `make reproduce` runs, in an empty workspace, without the set-up."""
    workspace = SweepWorkspace(tmp_path)
    run_s = workspace.repro("run", "--profile", "smoke", num_trials=0)
    report_s = workspace.repro("report", num_trials=0)
    assert list((tmp_path / "root" / "site").glob("*.html"))
    goal("make_reproduce", limit=180.0, unit="s", direction="at_most")(
        run_s + report_s,
        note=f"every task at smoke {run_s:.1f} s, report {report_s:.1f} s; {num_cores()} cores",
    )
