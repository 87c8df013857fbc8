"""What claims on hidden units measure."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.declare.statistics import MissingRows
from reproductions.asymvalley.activations.quantities import (
    farthest_sum,
    switched_at_centre,
    tightest_agreement,
)
from tests.reproductions.asymvalley.activations.hand_made import activations


def one_seed(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["seed"] == 0]


def test_one_distance_at_which_the_negative_side_agrees_more_is_the_tightest() -> None:
    table = one_seed(activations("fails"))
    minus, plus = tightest_agreement(table)
    assert plus < minus
    with pytest.raises(MissingRows, match=r"-0\.4"):
        tightest_agreement(table[table["lambda"] != -0.4])


def test_shares_and_switches_are_taken_where_they_are_worst() -> None:
    table = activations("holds")
    table.loc[7, "off_on"] += 0.02
    assert farthest_sum(table) == pytest.approx(1.02)
    centre = table.index[table["lambda"] == 0.0][3]
    table.loc[centre, "on_off"] = 0.01
    assert switched_at_centre(table) == 0.01
