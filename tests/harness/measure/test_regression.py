"""What counts as slower: by ranks, beyond a margin, relative to the machine's own speed."""

from __future__ import annotations

from typing import Any

import pytest

from harness.measure.goals import Goal, Measured
from harness.measure.regression import Change, compare
from tests.harness.measure.hand_made_goals import AT_MOST, goal_of

RATIO = Goal(limit=2.0, unit="ratio", direction="at_least")
SPREAD = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.03, 0.97]


def item(factor: float, *, goal: Goal = AT_MOST, **told: Any) -> Measured:
    """Return a goal whose samples are `factor`, give or take."""
    return goal_of("a", factor, goal=goal, **{"samples": [factor * s for s in SPREAD], **told})


def change_of(before: Measured, after: Measured, **options: Any) -> Change:
    (found,) = compare({before.name: before}, [after], **options)
    return found.change


@pytest.mark.parametrize(
    ("factor", "change"),
    [
        (1.0, Change.SAME),
        (1.05, Change.SAME),
        (1.3, Change.REGRESSION),
        (0.95, Change.SAME),
        (0.7, Change.BETTER),
    ],
)
def test_less_time_is_better(factor: float, change: Change) -> None:
    assert change_of(item(1.0), item(factor)) is change


@pytest.mark.parametrize(("factor", "change"), [(1.3, Change.BETTER), (0.7, Change.REGRESSION)])
def test_where_more_is_better_less_is_a_regression(factor: float, change: Change) -> None:
    assert change_of(item(1.0, goal=RATIO), item(factor, goal=RATIO)) is change


def test_a_time_counts_relative_to_the_machine_and_a_ratio_does_not() -> None:
    assert change_of(item(1.0), item(2.0, speed=0.5)) is Change.SAME
    # Relative to the control it is slower, and as it is it is not: the control has errors too.
    assert change_of(item(1.0), item(1.0, speed=2.0)) is Change.SAME
    assert change_of(item(1.0), item(3.0, speed=0.5)) is Change.REGRESSION
    fast, slow = item(1.0, goal=RATIO), item(1.0, goal=RATIO, speed=0.5)
    assert change_of(fast, slow) is Change.SAME


def test_a_share_near_zero_is_held_to_a_part_of_its_limit() -> None:
    goal = Goal(limit=0.01, unit="share", direction="at_most")
    before = item(0.0, goal=goal, samples=[1e-4 * (s - 1) for s in SPREAD])
    for share, change in ((0.0005, Change.SAME), (0.002, Change.REGRESSION)):
        after = item(0.0, goal=goal, samples=[share + 1e-4 * (s - 1) for s in SPREAD])
        assert change_of(before, after) is change
        assert change_of(after, before) is (
            Change.BETTER if change is Change.REGRESSION else Change.SAME
        )


def test_few_samples_decide_nothing_however_different() -> None:
    few = item(1.0, samples=[1.0, 1.0, 1.0])
    assert change_of(few, item(9.0, samples=[9.0, 9.0, 9.0])) is Change.TOO_FEW
    assert change_of(few, item(9.0, samples=[])) is Change.TOO_FEW


@pytest.mark.parametrize(
    ("factor", "change"),
    [(1.05, Change.SAME), (1.2, Change.REGRESSION), (0.8, Change.BETTER)],
)
def test_what_is_counted_is_held_to_the_margin_itself(factor: float, change: Change) -> None:
    counted = item(
        1.0, goal=RATIO.model_copy(update={"direction": "at_most"}), samples=[], exact=True
    )
    assert change_of(counted, counted.model_copy(update={"measured": factor})) is change


def test_a_goal_without_a_past_and_a_sum_over_records_are_not_judged() -> None:
    (found,) = compare({}, [item(1.0)])
    assert (found.change, found.before, found.p_worse) == (Change.NEW, None, None)
    assert change_of(item(1.0), item(9.0, from_records=True)) is Change.RECORDS
