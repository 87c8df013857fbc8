"""What the claim on every trained net measures."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from harness.declare.statistics import MissingRows
from reproductions.asymvalley.trained_nets.gradient import cosines
from tests.reproductions.asymvalley.trained_nets.hand_made import trained_nets


def one_seed(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["seed"] == 0]


def test_every_net_has_its_cosine_with_its_sign_and_a_diverged_one_has_none() -> None:
    table = one_seed(trained_nets("fails"))
    assert cosines(table) == pytest.approx([-0.001, 0.009, 0.019, -0.301])
    table.loc[table["recipe"] == "lr_high", "sign_gradient_cosine"] = float("nan")
    assert math.isnan(cosines(table)[-1])
    with pytest.raises(MissingRows, match="trained net"):
        cosines(table[table["seed"] > 0])
