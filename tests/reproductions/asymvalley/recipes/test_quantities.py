"""What claims on lines between two solutions measure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from harness.declare.reference import load_reference
from harness.declare.statistics import InvalidQuantity, MissingRows
from harness.store.table_csv import build_table
from reproductions.asymvalley.halves import fig11 as fig11_half_lines
from reproductions.asymvalley.method.directions import PARTITION
from reproductions.asymvalley.recipes import fig08 as fig08_recipe_lines
from reproductions.asymvalley.recipes import table as between_views
from reproductions.asymvalley.recipes.quantities import (
    barrier,
    closest_ssr,
    farthest_end,
    gap_follows_ssr,
    group_pair,
    larger_is_more_consistent,
    last_gap,
    least_gain_of_consistency,
    num_groups_more_consistent,
    outward_consistency,
)
from tests.reproductions.asymvalley.decided import FOLDER
from tests.reproductions.asymvalley.hand_made_between import half_lines, recipe_lines

TASKS = {task.id: task for task in (*fig08_recipe_lines.tasks, fig11_half_lines.task)}


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
    """Two solutions of 999 weights a group with shared signs, the second `scale` times as large."""
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
    for group, share in unlike.items():
        before, after = group_pair(table, group=group, value="consistency")
        assert after - before == pytest.approx(share, abs=1e-12)
    assert least_gain_of_consistency(table) == pytest.approx(min(unlike.values()), abs=1e-12)
    small, large = larger_is_more_consistent(table)
    assert large - small == pytest.approx(unlike["all"], abs=1e-12)
    assert num_groups_more_consistent(table) == 5.0


@pytest.mark.parametrize("scale", [0.2, 3.0])
def test_outward_consistency_counts_the_larger_of_equal_signs(scale: float) -> None:
    first, second = random_solutions(scale=scale, seed=4)
    small, large = outward_consistency(measured_groups(first, second))
    lesser, greater = sorted((first["all"], second["all"]), key=np.linalg.norm)
    alike = first["all"] * second["all"] > 0
    grown = float(np.mean(alike & (abs(greater) > abs(lesser))))
    assert large - small == pytest.approx(2 * grown - float(np.mean(alike)), abs=1e-12)
    assert large > small


def test_barrier_is_between_the_ends_and_not_beyond_them() -> None:
    table = one_seed(recipe_lines("fails"))
    ends, between = barrier(table)
    assert (ends, round(between, 9)) == (0.1, 0.036)
    assert max(table.loc[table["part"] == "line", "error"]) > 0.5


def test_a_group_that_is_not_in_the_table_is_missing() -> None:
    table = one_seed(recipe_lines("holds"))
    with pytest.raises(MissingRows, match="clf_bias"):
        num_groups_more_consistent(table[table["group"] != "clf_bias"])


def test_epochs_before_the_fifth_do_not_count_for_shared_signs() -> None:
    table = one_seed(half_lines("holds"))
    early = (table["epoch"] < 5) & (table["regime"] == "pretrained")
    table.loc[early, "ssr_ab"] = 0.1
    assert closest_ssr(table)[1] > 0.9
    with pytest.raises(MissingRows, match="epoch from 5"):
        closest_ssr(table[table["epoch"] < 5])


def test_the_last_epoch_is_the_largest_whatever_the_order_of_rows() -> None:
    table = one_seed(half_lines("holds")).sample(frac=1.0, random_state=1)
    assert last_gap(table, regime="random") == pytest.approx(-0.4)


def test_correlation_over_both_starts_is_that_of_ranks() -> None:
    from scipy.stats import rankdata

    table = one_seed(half_lines("fails"))
    rows = table[table["part"] == "epoch"]
    expected = np.corrcoef(rankdata(rows["gap"]), rankdata(rows["ssr_ab"]))[0, 1]
    assert gap_follows_ssr(table) == pytest.approx(expected)
    with pytest.raises(InvalidQuantity):
        gap_follows_ssr(one_seed(half_lines("flat")))


@pytest.mark.parametrize("column", ["accuracy_a", "accuracy_b", "accuracy_mid"])
def test_each_end_and_the_middle_are_compared(column: str) -> None:
    table = half_lines("holds")
    assert farthest_end(table) == 0.0
    row = (table["part"] == "epoch") & (table["epoch"] == 5) & (table["seed"] == 1)
    table.loc[row & (table["regime"] == "random"), column] += 0.002
    assert farthest_end(table) == pytest.approx(0.002)


def test_the_line_of_one_pair_and_one_contrast_is_shown() -> None:
    task = TASKS["asymvalley/fig24"]
    pairs = ("vgg16_cifar10", "resnet20_cifar10")
    frame = pd.concat(
        recipe_lines("holds").assign(pair=pair, contrast=contrast, status="done")
        for pair in pairs
        for contrast in ("batch_size", "lr")
    )
    table = build_table(task, {"asymvalley/recipe_lines": frame})
    assert len(table) == len(frame) // 4
    assert table.columns.tolist() == between_views.LINE_COLUMNS.names


def test_the_number_the_paper_states_stands_beside_its_claim() -> None:
    (claim,) = [each for each in fig11_half_lines.CLAIMS if each.paper_value]
    assert claim.criterion.paper_value is not None
    assert (
        claim.criterion.paper_value(load_reference(FOLDER, "fig11"))
        == claim.criterion.threshold
        == 0.95
    )
