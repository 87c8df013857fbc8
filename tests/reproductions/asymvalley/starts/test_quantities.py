"""What claims on starts and statistics measure."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.declare.statistics import MissingRows
from reproductions.asymvalley.starts.quantities import (
    bn_asymmetries,
    bn_asymmetry_shares,
    filter_gains,
)
from tests.reproductions.asymvalley.starts.hand_made import starts


def one_seed(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["seed"] == 0]


def test_noise_on_bn_weights_is_told_from_noise_on_all() -> None:
    table = one_seed(starts("holds"))
    assert bn_asymmetries(table, starts=("ones", "gaussian")) == pytest.approx([0.4, 0.02])
    shares = bn_asymmetry_shares(table, start="gaussian", others=("ones", "uniform"))
    assert shares == pytest.approx([0.05, 0.05])
    with pytest.raises(MissingRows, match="bn"):
        bn_asymmetries(table[table["group"] != "bn"], starts=("ones",))


def test_filter_asymmetry_is_that_of_the_smallest_width_with_its_sign() -> None:
    table = one_seed(starts("holds"))
    starts_ = ("ones", "uniform")
    assert filter_gains(table, starts=starts_) == pytest.approx([0.015, 0.015])
    turned = table.assign(x=-table["x"])
    assert filter_gains(turned, starts=starts_) == pytest.approx([-0.015, -0.015])
    wide = table[table["s"] != 0.2]
    assert filter_gains(wide, starts=("ones",)) == pytest.approx([-0.3])
