"""What claims on recipes, and on lines between two of them, measure."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.store.table_csv import build_table
from reproductions.asymvalley.recipes import fig23
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


def test_views_show_one_net_and_only_the_six_recipes() -> None:
    frame = pd.concat(
        [
            recipes("holds").assign(pair=pair, status="done")
            for pair in ("vgg16_cifar10", "resnet20_cifar10")
        ]
        + [recipes("holds").assign(pair="vgg16_cifar10", recipe="base", status="done").iloc[:3]]
    )
    table = build_table(fig23.task, {"asymvalley/recipes": frame})
    assert len(table) == len(recipes("holds"))
    assert "base" not in set(table["recipe"])
