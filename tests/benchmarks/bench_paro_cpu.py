"""PaRO at `cpu` on two cores: everything within an hour and a half."""

from __future__ import annotations

from harness.measure.goal_fixture import GoalFixture
from tests.benchmarks.cpu_time import record_minutes


def test_paro_at_cpu_is_done_in_its_time(goal: GoalFixture) -> None:
    record_minutes(goal, "paro_cpu", paper="paro", limit=90.0, wanted=lambda name: True)
