"""Supar at `cpu` on two cores: its first figures within an hour, the other sweeps within three.

All the rest, with Table 2's scores and their substitute, is held to the same three hours beside.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.measure.goal_fixture import GoalFixture
from tests.benchmarks.cpu_time import record_minutes

FIRST = ("lr_sweep", "coordinate_check", "identities", "configuration")
"""Experiments of Figures 1, 5, 6, 8 and of Tables 1, 3, 4."""
SCORES = ("downstream", "downstream_given", "continuation")
"""Experiments that train nothing: they score the nets of a sweep."""


@pytest.mark.parametrize(
    ("name", "limit", "wanted"),
    [
        ("supar_cpu", 60.0, lambda name: name in FIRST),
        ("supar_cpu_sweeps", 180.0, lambda name: name not in (*FIRST, *SCORES)),
        ("supar_cpu_more", 180.0, lambda name: name not in FIRST),
    ],
)
def test_supar_at_cpu_is_done_in_its_time(
    goal: GoalFixture, name: str, limit: float, wanted: Callable[[str], bool]
) -> None:
    record_minutes(goal, name, paper="supar", limit=limit, wanted=wanted)
