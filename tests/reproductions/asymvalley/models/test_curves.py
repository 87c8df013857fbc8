"""What studies measure on curves alike, against sums written out."""

from __future__ import annotations

import math
import random

import pandas as pd
import pytest

from harness.declare.statistics import InvalidQuantity, MissingRows
from reproductions.asymvalley.models.curves import (
    asymmetry,
    need_draws,
    sides,
    spearman,
    widest_centre,
)
from tests.reproductions.asymvalley.valleys.hand_made import directions


def curve(draws: int, *, seed: int = 3) -> pd.DataFrame:
    """21 points of random error and cross-entropy per draw."""
    chance = random.Random(seed)
    rows = [
        {"lambda": step / 10, "draw": draw, "error": chance.random(), "ce": 5 * chance.random()}
        for draw in range(draws)
        for step in range(-10, 11)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("value", ["error", "ce"])
@pytest.mark.parametrize("draws", [1, 3])
def test_asymmetry_is_the_difference_of_the_two_means(draws: int, value: str) -> None:
    rows = curve(draws)
    plus = [row[value] for row in rows.to_dict("records") if row["lambda"] > 0]
    minus = [row[value] for row in rows.to_dict("records") if row["lambda"] < 0]
    assert len(plus) == len(minus) == 10 * draws
    found = sides(rows, value=value)
    assert found.plus == pytest.approx(sum(plus) / len(plus), abs=1e-14)
    assert found.minus == pytest.approx(sum(minus) / len(minus), abs=1e-14)
    assert asymmetry(rows, value=value) == found.minus - found.plus


@pytest.mark.parametrize("broken", [math.nan, math.inf, None])
def test_a_value_that_is_not_finite_is_no_asymmetry(broken: float | None) -> None:
    rows = curve(1)
    rows.loc[3, "ce"] = broken
    with pytest.raises(InvalidQuantity, match="without a finite ce"):
        asymmetry(rows, value="ce")
    assert math.isfinite(asymmetry(rows))


def test_draws_are_counted_once_each() -> None:
    need_draws(curve(3), 3)
    with pytest.raises(InvalidQuantity, match="3 draw"):
        need_draws(curve(3), 4)


def test_rank_correlation_is_that_of_the_ranks() -> None:
    chance = random.Random(5)
    x, y = ([chance.random() for _ in range(9)] for _ in range(2))
    ranks = [[sorted(numbers).index(number) for number in numbers] for numbers in (x, y)]
    distance = sum((a - b) ** 2 for a, b in zip(*ranks, strict=True))
    # Spearman's formula without ties.
    assert spearman(x, y) == pytest.approx(1 - 6 * distance / (9 * (81 - 1)))
    with pytest.raises(InvalidQuantity, match="numbers that differ"):
        spearman(x, [0.5] * 9)


def test_nets_and_seeds_may_differ_at_zero_but_not_curves_of_one_net() -> None:
    start = {"vgg16_cifar10": 0.3, "vgg16nobn_cifar10": 0.1}
    table = directions("holds", start=start)
    zero = table["lambda"] == 0.0
    table.loc[zero, "error"] = 0.1 * table["seed"] + 0.01 * table["pair"].str.len()
    assert widest_centre(table, by=("pair",)) == 0.0
    table.loc[zero.idxmax(), "error"] += 0.002
    assert widest_centre(table, by=("pair",)) == pytest.approx(0.002)
    with pytest.raises(MissingRows, match="lambda = 0"):
        widest_centre(table[~zero], by=("pair",))
