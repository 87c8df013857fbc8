"""What claims on recipes, and on lines between two of them, measure."""

from __future__ import annotations

import pandas as pd
import pytest

from reproductions.asymvalley.recipes.quantities import (
    sharper_by,
)
from tests.reproductions.asymvalley.hand_made.curves import recipes


def one_seed(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["seed"] == 0]


def test_sharpness_is_the_rise_of_raw_noise_above_the_net_itself() -> None:
    table = one_seed(recipes("holds"))
    assert sharper_by(table) == pytest.approx([0.02, 0.02, 0.02])
    raised = table["recipe"] == "lr_low"
    table.loc[raised | table["sign_consistent"], "error"] += 0.2
    assert sharper_by(table) == pytest.approx([0.02, 0.02, 0.02])
    table.loc[raised & (table["lambda"] != 0.0), "error"] += 0.05
    assert sharper_by(table) == pytest.approx([0.02, -0.03, 0.02])
