"""What claims on recipes, and on lines between two of them, measure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from harness.declare.statistics import MissingRows
from harness.store.table_csv import build_table
from reproductions.asymvalley.method.directions import PARTITION
from reproductions.asymvalley.recipes import fig23, fig24
from reproductions.asymvalley.recipes.quantities import (
    least_gain_of_consistency,
    norms,
    sharper_by,
    sign_asymmetries,
)
from tests.reproductions.asymvalley.recipes.hand_made import recipe_lines, recipes


def one_seed(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["seed"] == 0]


def measured_groups(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> pd.DataFrame:
    """Count signs of two solutions as the paper defines the ratio, group by group."""
    rows = []
    for group in first:
        way = second[group] - first[group]
        for name, weights in (("first", first[group]), ("second", second[group])):
            row = {"part": "group", "group": group, "solution": name, "seed": 0}
            share = float(np.mean(weights * way > 0))
            rows.append({**row, "norm": float(np.linalg.norm(weights)), "consistency": share})
    return pd.DataFrame(rows)


def random_solutions(*, scale: float, seed: int) -> tuple[dict[str, np.ndarray], ...]:
    """Two solutions of 999 weights per group, signs shared, the second `scale` times as large."""
    rng = np.random.default_rng(seed)
    parts = [
        {group: rng.normal(size=999) for group in PARTITION},
        {group: rng.normal(size=999) for group in PARTITION},
    ]
    second = {group: scale * (parts[0][group] + parts[1][group]) for group in PARTITION}
    for solution in (parts[0], second):
        solution["all"] = np.concatenate([solution[group] for group in PARTITION])
    return parts[0], second


@pytest.mark.parametrize("scale", [0.2, 1.0, 3.0])
def test_consistency_with_the_common_way_rises_by_the_share_of_unlike_signs(scale: float) -> None:
    """Whatever the two are: so a claim on one common way tells nothing of their scale."""
    first, second = random_solutions(scale=scale, seed=3)
    table = measured_groups(first, second)
    unlike = {group: float(np.mean(first[group] * second[group] < 0)) for group in first}
    assert least_gain_of_consistency(table) == pytest.approx(min(unlike.values()), abs=1e-12)


def test_a_group_that_is_not_in_the_table_is_missing() -> None:
    table = one_seed(recipe_lines("holds"))
    with pytest.raises(MissingRows, match="all"):
        norms(table[table["group"] != "all"])


def test_the_line_of_one_pair_and_one_contrast_is_shown() -> None:
    task = fig24.task
    pairs = ("vgg16_cifar10", "resnet20_cifar10")
    frame = pd.concat(
        recipe_lines("holds").assign(pair=pair, contrast=contrast, status="done")
        for pair in pairs
        for contrast in ("batch_size", "lr")
    )
    table = build_table(task, {"asymvalley/recipe_lines": frame})
    assert len(table) == len(frame) // 4
    assert table.columns.tolist() == task.table.names


def test_a_recipe_that_is_missing_leaves_the_six_undecided() -> None:
    table = one_seed(recipes("holds"))
    with pytest.raises(MissingRows, match="wd_high"):
        sign_asymmetries(table[table["recipe"] != "wd_high"])


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
