"""What claims on hidden units measure."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.declare.statistics import MissingRows
from reproductions.asymvalley.activations.quantities import (
    agreement_gains,
    farthest_sum,
    switched_at_centre,
)
from tests.reproductions.asymvalley.activations.hand_made import activations


def one_seed(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["seed"] == 0]


def test_each_distance_has_its_gain_of_agreement() -> None:
    table = one_seed(activations("fails"))
    assert [gain > 0.0 for gain in agreement_gains(table)] == [True, True, False, True, True]
    with pytest.raises(MissingRows, match=r"-0\.4"):
        agreement_gains(table[table["lambda"] != -0.4])


def test_shares_and_switches_are_taken_where_they_are_worst() -> None:
    table = activations("holds")
    table.loc[7, "off_on"] += 0.02
    assert farthest_sum(table) == pytest.approx(1.02)
    centre = table.index[table["lambda"] == 0.0][3]
    table.loc[centre, "on_off"] = 0.01
    assert switched_at_centre(table) == 0.01
