"""What claims on two halves measure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from harness.declare.statistics import InvalidQuantity, MissingRows
from reproductions.asymvalley.halves.quantities import (
    farthest_end,
    gap_follows_ssr,
)
from tests.reproductions.asymvalley.hand_made.others import half_lines


def one_seed(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["seed"] == 0]


def test_correlation_is_that_of_a_start_s_own_ranks() -> None:
    from scipy.stats import rankdata

    table = one_seed(half_lines("fails"))
    rows = table[(table["part"] == "epoch") & (table["regime"] == "random")]
    expected = np.corrcoef(rankdata(rows["gap"]), rankdata(rows["ssr_ab"]))[0, 1]
    assert gap_follows_ssr(table, regime="random") == pytest.approx(expected)
    with pytest.raises(InvalidQuantity):
        gap_follows_ssr(one_seed(half_lines("flat")), regime="random")


def test_each_end_and_the_middle_are_compared() -> None:
    for column in ("accuracy_a", "accuracy_b", "accuracy_mid"):
        table = half_lines("holds")
        assert farthest_end(table) == 0.0
        row = (table["part"] == "epoch") & (table["epoch"] == 5) & (table["seed"] == 1)
        table.loc[row & (table["regime"] == "random"), column] += 0.002
        assert farthest_end(table) == pytest.approx(0.002)
    with pytest.raises(MissingRows, match="an end of it"):
        farthest_end(table[table["x"] != 1.0])
