"""Quantities on valleys, against sums written out."""

from __future__ import annotations

import pytest

from reproductions.asymvalley.valleys.quantities import (
    direction_asymmetry,
    excess_over_agreeing,
    ratio_spearmans,
    weights_and_centred_signs,
)
from tests.reproductions.asymvalley.valleys.hand_made import directions, ratios


def test_ratios_are_correlated_after_averaging_draws() -> None:
    """One draw that falls steeply where two rise gently decides the mean."""
    table = ratios("holds").query("seed == 0 and pair == 'vgg16_cifar10'").copy()
    side, where = table["lambda"] > 0, {"pairs": ("vgg16_cifar10",), "side": "plus"}
    slope = table["draw"].map({0: -1.0, 1: 0.2, 2: 0.2})
    table.loc[side, "error"] = 0.5 + slope * table["ratio"]
    assert ratio_spearmans(table, **where) == pytest.approx([-1.0])
    table.loc[side, "error"] = 0.5 - slope * table["ratio"]
    assert ratio_spearmans(table, **where) == pytest.approx([1.0])


def test_the_network_of_zeros_does_not_make_the_weights_a_direction() -> None:
    table = directions("flat", start={"vgg16_cifar10": 0.1}).query("seed == 0").copy()
    end = table["lambda"] == -1.0
    table.loc[end & table["direction"].isin(["theta_f", "sign_centred"]), "error"] = 1.0
    along = {"pair": "vgg16_cifar10", "direction": "theta_f"}
    assert direction_asymmetry(table, **along) == pytest.approx(0.05)
    found = weights_and_centred_signs(table, pair="vgg16_cifar10")
    assert found == pytest.approx([0.0, 0.05])


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
