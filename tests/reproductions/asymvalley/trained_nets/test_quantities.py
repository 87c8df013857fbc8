"""What the claim on every trained net measures."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.declare.statistics import MissingRows
from reproductions.asymvalley.trained_nets.gradient import largest_cosine
from tests.reproductions.asymvalley.trained_nets.hand_made import trained_nets


def one_seed(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["seed"] == 0]


def test_the_largest_cosine_counts_its_size_and_skips_diverged_nets() -> None:
    table = one_seed(trained_nets("fails"))
    assert largest_cosine(table) == pytest.approx(0.301)
    table.loc[table["recipe"] == "lr_high", "sign_gradient_cosine"] = float("nan")
    assert largest_cosine(table) == pytest.approx(0.019)
    with pytest.raises(MissingRows, match="trained net"):
        largest_cosine(table.assign(sign_gradient_cosine=float("nan")))
