"""`make reproduce` must take less than three minutes after set-up."""

from __future__ import annotations

from pathlib import Path

from harness.measure.machine import num_cores
from tests.benchmarks.conftest import GoalFixture
from tests.benchmarks.sweeps import SweepWorkspace

STEPS = (
    ("run", "--profile", "smoke"),
    ("table", "supar/tab02_proxy", "--profile", "smoke"),
    ("report", "--site-only"),
)
"""What the target runs."""
ONE_TASK = (("run", "supar/tab02_proxy", "--profile", "smoke"), *STEPS[1:])
"""The same of one task."""


def test_reproduce_is_done_in_three_minutes(goal: GoalFixture, tmp_path: Path) -> None:
    """Run the target's commands in an empty workspace, once."""
    workspace = SweepWorkspace(tmp_path)
    steps = ONE_TASK if goal.tried else STEPS
    parts = {step[0]: workspace.repro(*step, num_trials=0) for step in steps}
    assert list((tmp_path / "root" / "site").glob("*.html"))
    told = ", ".join(f"{name} {wall_s:.1f} s" for name, wall_s in parts.items())
    goal("make_reproduce", limit=180.0, unit="s", direction="at_most")(
        sum(parts.values()),
        note=f"{told}; {num_cores()} cores",
    )
