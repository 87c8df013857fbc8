"""Quantities on valleys, against sums written out."""

from __future__ import annotations

import math

import pytest

from harness.declare.statistics import MissingRows
from reproductions.asymvalley.valleys.quantities import (
    consistency_farthest_from_one,
    direction_asymmetry,
    excess_over_agreeing,
    ratio_spearmans,
    raw_shares,
    weights_and_centred_signs,
)
from tests.reproductions.asymvalley.valleys.hand_made import directions, noises, ratios


def test_ratios_are_correlated_after_averaging_draws() -> None:
    """One draw that falls steeply where two rise gently decides the mean."""
    table = ratios("holds").query("seed == 0 and pair == 'vgg16_cifar10'").copy()
    side, where = table["lambda"] > 0, {"pairs": ("vgg16_cifar10",), "side": "plus"}
    slope = table["draw"].map({0: -1.0, 1: 0.2, 2: 0.2})
    table.loc[side, "error"] = 0.5 + slope * table["ratio"]
    assert ratio_spearmans(table, **where) == pytest.approx([-1.0])
    table.loc[side, "error"] = 0.5 - slope * table["ratio"]
    assert ratio_spearmans(table, **where) == pytest.approx([1.0])


def test_a_share_of_a_valley_that_leans_the_other_way_is_infinite() -> None:
    table = noises("fails", pair="vgg16_cifar10").query("seed == 0")
    gaussian, shifted = raw_shares(table, kinds=("gaussian", "uniform01"))
    assert gaussian == pytest.approx(0.5 / 0.4, abs=0.02)
    assert shifted == math.inf


def test_the_network_of_zeros_does_not_make_the_weights_a_direction() -> None:
    table = directions("flat", start={"vgg16_cifar10": 0.1}).query("seed == 0").copy()
    end = table["lambda"] == -1.0
    table.loc[end & table["direction"].isin(["theta_f", "sign_centred"]), "error"] = 1.0
    along = {"pair": "vgg16_cifar10", "direction": "theta_f"}
    assert direction_asymmetry(table, **along) == pytest.approx(0.05)
    found = weights_and_centred_signs(table, pair="vgg16_cifar10")
    assert found == pytest.approx([0.0, 0.05])


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
