"""What studies measure on curves alike, against sums written out."""

from __future__ import annotations

import math
import random

import pandas as pd
import pytest

from harness.declare.statistics import InvalidQuantity, MissingRows
from reproductions.asymvalley.models.curves import (
    asymmetries,
    gains,
    mean_asymmetry,
    ratio_spearmans,
    sides,
    sizes_of_shares,
    spearman,
    widest_centre,
)
from tests.reproductions.asymvalley.hand_made.curves import directions, ratios, starts


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
    of_places = rows.rename(columns={"lambda": "x"})
    for table in (rows, of_places):
        assert asymmetries(table, of=[{}], value=value) == [found.minus - found.plus]


@pytest.mark.parametrize("broken", [math.nan, math.inf, None])
def test_a_value_that_is_not_finite_is_no_asymmetry(broken: float | None) -> None:
    rows = curve(1)
    rows.loc[3, "ce"] = broken
    with pytest.raises(InvalidQuantity, match="without a finite ce"):
        asymmetries(rows, of=[{}], value="ce")
    assert math.isfinite(mean_asymmetry(rows, of=[{}]))


def test_a_share_is_of_single_draws_and_not_of_their_mean() -> None:
    """Draws that lean to either side cancel in their mean, around any net."""
    rows = curve(2).assign(which="raw")
    rows["error"] = 0.5 - 0.1 * rows["lambda"].map(lambda x: (x > 0) - (x < 0))
    rows.loc[rows["draw"] == 1, "error"] = 1.0 - rows["error"]
    beside = curve(1).assign(which="signs", error=0.5)
    beside.loc[beside["lambda"] < 0, "error"] = 0.9
    table = pd.concat([rows, beside])
    assert asymmetries(table, of=[{"which": "raw"}]) == pytest.approx([0.0])
    told = {"of": [{"which": "raw"}], "beside": [{"which": "signs"}]}
    assert sizes_of_shares(table, min_draws=2, **told) == pytest.approx([0.5])
    with pytest.raises(InvalidQuantity, match="2 draw"):
        sizes_of_shares(table, min_draws=3, **told)
    lost = table.assign(error=table["error"].where(table["which"] == "signs", 0.85))
    with pytest.raises(InvalidQuantity, match="the net is lost"):
        sizes_of_shares(lost, **told)


def test_valleys_are_told_apart_and_compared_with_their_signs() -> None:
    table = starts("holds").query("seed == 0 and part == 'curve'")
    noise = {"norm": "ns", "group": "bn", "s": 1.0}
    one, none = ({**noise, "bn_start": start} for start in ("ones", "gaussian"))
    assert asymmetries(table, of=[one, none]) == pytest.approx([0.4, 0.02])
    assert mean_asymmetry(table, of=[one, none]) == pytest.approx(0.21)
    assert gains(table, of=[none], beside=[one]) == pytest.approx([-0.38])
    assert sizes_of_shares(table, of=[none], beside=[one]) == pytest.approx([0.05])
    turned = table.assign(x=table["x"].where(table["bn_start"] == "ones", -table["x"]))
    assert gains(turned, of=[none], beside=[one]) == pytest.approx([-0.42])
    assert gains(turned, of=[none], beside=[one], size=True) == pytest.approx([-0.38])
    assert sizes_of_shares(turned, of=[none], beside=[one]) == pytest.approx([0.05])
    # Nothing is a small share of a valley that leans the other way.
    assert sizes_of_shares(turned, of=[one], beside=[none]) == [math.inf]
    with pytest.raises(MissingRows, match="group=bn"):
        asymmetries(table[table["group"] != "bn"], of=[one])


def test_the_network_of_zeros_does_not_make_the_weights_a_direction() -> None:
    table = directions("flat", start={"vgg16_cifar10": 0.1}).query("seed == 0 and s == 1").copy()
    both = [{"direction": name} for name in ("theta_f", "sign_centred")]
    ends = (table["lambda"] == -1.0) & table["direction"].isin(["theta_f", "sign_centred"])
    table.loc[ends, "error"] = 1.0
    assert asymmetries(table, of=both) == pytest.approx([0.0, 0.05])


def test_ratios_are_correlated_after_averaging_draws() -> None:
    """One draw that falls steeply where two rise gently decides the mean."""
    table = ratios("holds").query("seed == 0").copy()
    right, net = table["lambda"] > 0, [{"pair": "vgg16_cifar10"}]
    slope = table["draw"].map({0: -1.0, 1: 0.2, 2: 0.2})
    for sign in (1.0, -1.0):
        table.loc[right, "error"] = 0.5 + sign * slope * table["ratio"]
        assert ratio_spearmans(table, of=net, side="plus") == pytest.approx([-sign])
    with pytest.raises(InvalidQuantity, match="3 draw"):
        ratio_spearmans(table, of=net, side="plus", min_draws=4)
    with pytest.raises(MissingRows, match="2 sign-change ratio"):
        ratio_spearmans(table[table["ratio"] < 0.4], of=net, side="plus")


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
