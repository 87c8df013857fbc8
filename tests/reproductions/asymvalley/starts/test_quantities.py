"""What claims on starts, recipes, statistics and activations measure."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.declare.reference import load_reference
from harness.declare.statistics import MissingRows
from harness.declare.verdict import Word
from harness.store.table_csv import build_table
from reproductions.asymvalley.activations import fig28 as fig28_activations
from reproductions.asymvalley.recipes import fig09 as fig09_recipes
from reproductions.asymvalley.starts import bn_statistics
from reproductions.asymvalley.starts import fig07 as fig07_batch_norm_starts
from reproductions.asymvalley.starts.quantities import (
    bn_asymmetry,
    bn_asymmetry_share,
    farthest_sum,
    filter_asymmetries,
    frozen_excess,
    largest_cosine,
    largest_raw_share,
    middle_weight,
    raw_spread,
    switched_at_centre,
    tightest_agreement,
    widest_centre,
)
from reproductions.asymvalley.trained_nets import gradient
from tests.reproductions.asymvalley.decided import FOLDER, decide
from tests.reproductions.asymvalley.hand_made_starts import (
    activations,
    recipes,
    solutions,
    starts,
    statistics,
)

TASKS = {
    task.id: task
    for task in (
        *fig07_batch_norm_starts.tasks,
        *fig09_recipes.tasks,
        fig28_activations.task,
        bn_statistics.task,
        gradient.task,
    )
}


def one_seed(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["seed"] == 0]


CALIBRATED = {
    **{"fig07:ones_positive_share": (0.97, 1.0), "fig21:gaussian_positive_share": (0.3, 0.7)},
    **{"fig07:uniform_bn_asymmetric": 0.1, "fig22:gaussian_bn_symmetric": 0.33},
    **{
        "fig07:ones_filter_more_asymmetric": -1e-9,
        "bn_statistics:resnet20_svhn_frozen_is_worse": 0.15,
    },
}
PLANNED = {
    **{"fig09:raw_symmetric": 0.3, "fig23:widths_differ": (1.1, float("inf"))},
    **{
        "fig28:agreement_larger_on_positive_side": -1e-9,
        "gradient:sign_orthogonal_to_gradient": 0.1,
    },
}


@pytest.mark.parametrize("address", [*CALIBRATED, *PLANNED])
def test_threshold_and_its_source_are_the_planned_ones(address: str) -> None:
    word, name = address.split(":")
    (claim,) = [each for each in TASKS[f"asymvalley/{word}"].claims if each.id == name]
    assert claim.criterion.threshold == {**CALIBRATED, **PLANNED}[address]
    assert claim.scope.threshold_from == ("calibration" if address in CALIBRATED else "theory")


def test_noise_on_bn_weights_is_told_from_noise_on_all() -> None:
    table = one_seed(starts("holds"))
    assert bn_asymmetry(table, start="ones") == pytest.approx(0.4)
    assert bn_asymmetry(table, start="gaussian") == pytest.approx(0.02)
    share = bn_asymmetry_share(table, start="gaussian", others=("ones", "uniform"))
    assert share == pytest.approx(0.05)
    with pytest.raises(MissingRows, match="bn"):
        bn_asymmetry(table[table["group"] != "bn"], start="ones")


def test_a_symmetric_third_start_is_no_finding_where_the_others_are_symmetric_too() -> None:
    table = one_seed(starts("flat"))
    share = bn_asymmetry_share(table, start="gaussian", others=("ones", "uniform"))
    assert share == float("inf")


def test_filter_asymmetry_is_that_of_the_smallest_width_without_its_sign() -> None:
    table = one_seed(starts("holds"))
    found = filter_asymmetries(table, starts=("gaussian", "ones"))
    assert found == pytest.approx([0.005, 0.02])
    wide = table[table["s"] != 0.2]
    assert filter_asymmetries(wide, starts=("gaussian", "ones")) == pytest.approx([0.3, 0.0])


def test_the_median_weight_is_the_middle_quantile() -> None:
    table = one_seed(starts("holds"))
    assert middle_weight(table, start="ones") == pytest.approx(0.2)
    with pytest.raises(MissingRows, match="median"):
        middle_weight(table[table["x"] != 0.5], start="ones")


def test_a_recipe_that_is_missing_leaves_the_six_undecided() -> None:
    table = one_seed(recipes("holds"))
    with pytest.raises(MissingRows, match="wd_high"):
        largest_raw_share(table[table["recipe"] != "wd_high"])


def test_spread_of_widths_is_of_raw_noise_alone() -> None:
    table = one_seed(recipes("holds"))
    table.loc[table["sign_consistent"] & (table["recipe"] == "lr_low"), "error"] *= 9.0
    widest, narrowest = raw_spread(table)
    # Levels 0.30 and 0.20 of the last and the first recipe; half of 0.001 by the second draw.
    assert (widest, narrowest) == pytest.approx((0.3005, 0.2005))


@pytest.mark.parametrize("x", ["lambda", "x"])
def test_one_draw_that_disagrees_at_the_centre_is_seen(x: str) -> None:
    table = recipes("holds") if x == "lambda" else starts("holds")
    by = ("recipe",) if x == "lambda" else ("bn_start",)
    assert widest_centre(table, by=by, x=x) == 0.0
    at = table[x].abs() < 1e-9
    if x == "x":
        at &= table["part"] == "curve"
    table.loc[table.index[at & (table["draw"] == 1)][0], "error"] += 2e-4
    assert widest_centre(table, by=by, x=x) == pytest.approx(2e-4)


def test_frozen_statistics_are_compared_on_sign_consistent_noise_and_the_positive_side() -> None:
    table = one_seed(statistics("holds"))
    assert frozen_excess(table, pair="resnet20_svhn") == pytest.approx(0.3)
    table.loc[~table["sign_consistent"] | (table["lambda"] < 0), "error"] = 0.9
    assert frozen_excess(table, pair="resnet20_svhn") == pytest.approx(0.3)


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


def test_the_largest_cosine_counts_its_size_and_skips_diverged_nets() -> None:
    table = one_seed(solutions("fails"))
    assert largest_cosine(table) == pytest.approx(0.301)
    table.loc[table["recipe"] == "lr_high", "sign_gradient_cosine"] = float("nan")
    assert largest_cosine(table) == pytest.approx(0.019)
    with pytest.raises(MissingRows, match="trained net"):
        largest_cosine(table.assign(sign_gradient_cosine=float("nan")))


def test_views_show_one_net_and_only_the_six_recipes() -> None:
    frame = pd.concat(
        [
            recipes("holds").assign(pair=pair, status="done")
            for pair in ("vgg16_cifar10", "resnet20_cifar10")
        ]
        + [recipes("holds").assign(pair="vgg16_cifar10", recipe="base", status="done").iloc[:3]]
    )
    table = build_table(TASKS["asymvalley/fig23"], {"asymvalley/recipes": frame})
    assert len(table) == len(recipes("holds"))
    assert "base" not in set(table["recipe"])


def test_a_start_table_survives_its_csv_with_empty_words() -> None:
    frame = starts("holds").assign(pair="vgg16_cifar10", status="done")
    task = TASKS["asymvalley/fig07"]
    table = build_table(task, {"asymvalley/batch_norm_starts": frame})
    for claim in task.claims:
        assert decide(task, claim, table).word is Word.REPRODUCED


def test_the_number_the_paper_states_stands_beside_its_claim() -> None:
    claim = fig07_batch_norm_starts.STATED
    assert claim.criterion.paper_value is not None
    assert claim.criterion.paper_value(load_reference(FOLDER, "fig07")) == 0.2
    assert claim.criterion.paper_value(load_reference(FOLDER, "fig21")) is None
