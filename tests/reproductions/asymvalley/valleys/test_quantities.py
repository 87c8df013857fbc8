"""With how many signs directions agree."""

from __future__ import annotations

import pytest

from reproductions.asymvalley.valleys.quantities import excess_over_agreeing
from tests.reproductions.asymvalley.hand_made.curves import directions


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
