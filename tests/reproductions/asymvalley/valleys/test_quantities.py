"""Quantities on valley curves, against sums written out."""

from __future__ import annotations

import math
import random

import pandas as pd
import pytest

from harness.declare.statistics import InvalidQuantity, MissingRows
from reproductions.asymvalley.valleys.quantities import (
    asymmetry,
    consistency_farthest_from_one,
    consistency_spearman,
    excess_over_agreeing,
    largest_raw_share,
    largest_spread_at_zero,
    need_draws,
    pick,
    ratio_spearman,
    sides,
    spearman,
)
from tests.reproductions.asymvalley.hand_made import directions, noises, ratios


def curve(draws: int, *, seed: int = 3) -> pd.DataFrame:
    """21 points of random error and cross-entropy a draw."""
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


def test_the_point_at_zero_is_on_neither_side() -> None:
    rows = curve(2)
    before = asymmetry(rows)
    rows.loc[rows["lambda"] == 0.0, "error"] = math.nan
    assert asymmetry(rows) == before


def test_a_lambda_with_more_draws_counts_once() -> None:
    rows = pd.DataFrame(
        {"lambda": [-1.0, 0.5, 1.0, 1.0, 1.0], "draw": [0, 0, 0, 1, 2], "error": [1, 0, 3, 3, 3]}
    )
    assert sides(rows).plus == 1.5


def test_mirroring_a_curve_turns_the_sign() -> None:
    rows = curve(2)
    mirrored = rows.assign(**{"lambda": -rows["lambda"]})
    assert asymmetry(mirrored) == pytest.approx(-asymmetry(rows), abs=1e-14)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_curve_with_one_side_is_missing_rows(sign: float) -> None:
    rows = curve(1)
    with pytest.raises(MissingRows, match="no point on one of its sides"):
        asymmetry(rows[rows["lambda"] * sign >= 0])


@pytest.mark.parametrize("broken", [math.nan, math.inf, None])
def test_a_value_that_is_not_finite_is_no_asymmetry(broken: float | None) -> None:
    rows = curve(1)
    rows.loc[3, "ce"] = broken
    with pytest.raises(InvalidQuantity, match="without a finite ce"):
        asymmetry(rows, value="ce")
    assert math.isfinite(asymmetry(rows))


def test_pick_names_what_is_missing() -> None:
    table = noises("holds", pair="vgg16_cifar10")
    assert set(pick(table, noise="ones", s=0.2)["draw"]) == {0}
    with pytest.raises(MissingRows, match="no rows of noise laplace"):
        pick(table, noise="laplace", s=1.0)


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


def test_ratios_are_correlated_after_averaging_draws() -> None:
    """One draw that falls steeply where two rise gently decides the mean."""
    table = ratios("holds").query("seed == 0 and pair == 'vgg16_cifar10'").copy()
    side = table["lambda"] > 0
    slope = table["draw"].map({0: -1.0, 1: 0.2, 2: 0.2})
    table.loc[side, "error"] = 0.5 + slope * table["ratio"]
    assert ratio_spearman(table, pair="vgg16_cifar10", side="plus") == pytest.approx(-1.0)
    table.loc[side, "error"] = 0.5 - slope * table["ratio"]
    assert ratio_spearman(table, pair="vgg16_cifar10", side="plus") == pytest.approx(1.0)


def test_a_share_of_a_valley_that_leans_the_other_way_is_infinite() -> None:
    table = noises("fails", pair="vgg16_cifar10").query("seed == 0")
    assert largest_raw_share(table, kinds=("gaussian",)) == pytest.approx(0.5 / 0.4, abs=0.02)
    assert largest_raw_share(table, kinds=("gaussian", "uniform01")) == math.inf


def test_six_directions_are_ranked_by_asymmetry_and_by_consistency() -> None:
    table = directions("holds", start={"vit_food101": 0.1}).query("seed == 0")
    # Asymmetry: sign, theta_f, sign_centred, theta_0, sgp, sgp_centred; two share consistency 1.
    assert consistency_spearman(table, pair="vit_food101") == pytest.approx(0.9856, abs=1e-4)


def test_consistency_is_judged_where_noise_is_sign_consistent_and_has_no_zeros() -> None:
    table = noises("holds", pair="vgg16_cifar10")

    def farthest(*kinds: str) -> float:
        where = {"pair": "vgg16_cifar10", "column": "noise"}
        return consistency_farthest_from_one(table, values=kinds, **where)

    assert farthest("gaussian", "ones") == 1.0
    assert farthest("gaussian", "ternary") == 0.67
    table.loc[7, ["sign_consistency", "sign_consistent"]] = [0.3, True]
    assert farthest("gaussian") == 0.3
    with pytest.raises(MissingRows):
        farthest("laplace")


def test_no_direction_agrees_with_more_weights_than_their_own_signs() -> None:
    table = directions("holds", start={"vit_food101": 0.1, "vgg11_cifar100": 0.1})
    own = ("theta_f", "sign")

    def excess() -> float:
        return excess_over_agreeing(table, column="direction", values=own)

    assert excess() == 0.0
    # Some weights of one net are zero: they agree with nothing, in no direction.
    some = table["pair"] == "vit_food101"
    table.loc[some, "sign_consistency"] *= 0.9
    assert excess() == 0.0
    table.loc[some & (table["direction"] == "sgp"), "sign_consistency"] = 0.92
    assert excess() == pytest.approx(0.02)
    table.loc[some & (table["direction"] == "sign"), "sign_consistency"] = 0.85
    assert excess() == pytest.approx(0.07)


def test_nets_and_seeds_may_differ_at_zero_but_not_curves_of_one_net() -> None:
    start = {"vgg16_cifar10": 0.3, "vgg16nobn_cifar10": 0.1}
    table = directions("holds", start=start)
    zero = table["lambda"] == 0.0
    table.loc[zero, "error"] = 0.1 * table["seed"] + 0.01 * table["pair"].str.len()
    assert largest_spread_at_zero(table) == 0.0
    table.loc[zero.idxmax(), "error"] += 0.002
    assert largest_spread_at_zero(table) == pytest.approx(0.002)
    with pytest.raises(MissingRows, match="lambda = 0"):
        largest_spread_at_zero(table[~zero])
