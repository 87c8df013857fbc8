"""How many seeds would decide an undecided claim."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from harness.declare.criterion import at_least, ordering, within
from harness.publish.judge import POWER, seeds_to_decide


def any_number(table: object) -> float:
    return 0.0


def samples(mean: float, spread: float) -> list[list[float]]:
    """Return three seeds with just this mean and deviation."""
    return [[mean - spread], [mean], [mean + spread]]


@pytest.mark.parametrize("mean", [0.4, 0.8])
def test_the_power_is_reached_by_that_many_seeds_and_not_by_fewer(mean: float) -> None:
    number = seeds_to_decide(at_least(any_number, 0.0, ""), samples(mean, 1.0))
    assert number is not None
    dice = np.random.default_rng(1)

    def power(count: int) -> float:
        drawn = dice.normal(loc=mean, size=(100_000, count))
        half = stats.t.ppf(0.975, count - 1) * stats.sem(drawn, axis=1)
        return float(np.mean(drawn.mean(axis=1) - half > 0.0))

    assert power(number) > POWER - 0.01
    assert power(number - 1) < POWER + 0.01


def test_outside_the_band_it_is_decided_against() -> None:
    inside = seeds_to_decide(at_least(any_number, 0.0, ""), samples(0.5, 1.0))
    outside = seeds_to_decide(at_least(any_number, 1.0, ""), samples(0.5, 1.0))
    assert inside == outside
    # Only the nearer side of a narrow band is in the way.
    narrow = seeds_to_decide(within(any_number, 0.9, 1.0, ""), samples(0.5, 1.0))
    assert narrow == seeds_to_decide(at_least(any_number, 0.9, ""), samples(0.5, 1.0))


def test_of_several_numbers_the_slowest_decides_for_and_the_quickest_against() -> None:
    claim = ordering(any_number, "")
    slow = seeds_to_decide(claim, samples(0.4, 1.0))
    two = [[a, b] for (a,), (b,) in zip(samples(0.4, 1.0), samples(0.8, 1.0), strict=True)]
    assert seeds_to_decide(claim, two) == slow
    against = [[a, b] for (a,), (b,) in zip(samples(-0.8, 1.0), samples(0.4, 1.0), strict=True)]
    assert seeds_to_decide(claim, against) == seeds_to_decide(claim, samples(0.8, 1.0))


@pytest.mark.parametrize(("count", "mean"), [(1, 0.8), (2, 0.4), (3, 0.6)])
def test_where_so_many_are_needed_the_last_of_them_decides(count: int, mean: float) -> None:
    """Two numbers lie above the threshold, one below, and three of three cannot be had."""
    parts = [samples(mean, 1.0) for mean in (0.8, 0.4, -0.6)]
    three = [[part[seed][0] for part in parts] for seed in range(3)]
    criterion = at_least(any_number, 0.0, "")
    found = seeds_to_decide(criterion.in_at_least(count), three)
    assert found == seeds_to_decide(criterion, samples(mean, 1.0))


def test_on_the_threshold_no_number_decides() -> None:
    claim = at_least(any_number, 0.5, "")
    assert seeds_to_decide(claim, samples(0.5, 1.0)) is None
    assert seeds_to_decide(claim, samples(0.5001, 1.0)) is None
