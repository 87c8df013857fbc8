"""LISA at `cpu` on two cores: everything within three hours."""

from __future__ import annotations

from harness.measure.goal_fixture import GoalFixture
from tests.benchmarks.cpu_time import record_minutes


def test_lisa_at_cpu_is_done_in_its_time(goal: GoalFixture) -> None:
    record_minutes(goal, "lisa_cpu", paper="lisa", limit=180.0, wanted=lambda name: True)
