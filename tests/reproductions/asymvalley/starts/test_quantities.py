"""What claims on starts and statistics measure."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.declare.reference import load_reference
from harness.declare.statistics import MissingRows
from harness.store.table_csv import build_table
from reproductions.asymvalley.starts import fig07
from reproductions.asymvalley.starts.quantities import (
    bn_asymmetry,
    bn_asymmetry_share,
    filter_asymmetries,
    frozen_excess,
    middle_weight,
)
from tests.reproductions.asymvalley.claim_checks import FOLDER, decide
from tests.reproductions.asymvalley.starts.hand_made import starts, statistics
from tests.verdicts import good


def one_seed(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["seed"] == 0]


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


def test_frozen_statistics_are_compared_on_sign_consistent_noise_and_the_positive_side() -> None:
    table = one_seed(statistics("holds"))
    assert frozen_excess(table, pair="resnet20_svhn") == pytest.approx(0.3)
    table.loc[~table["sign_consistent"] | (table["lambda"] < 0), "error"] = 0.9
    assert frozen_excess(table, pair="resnet20_svhn") == pytest.approx(0.3)


def test_a_start_table_survives_its_csv_with_empty_words() -> None:
    frame = starts("holds").assign(pair="vgg16_cifar10", status="done")
    task = fig07.task
    table = build_table(task, {"asymvalley/batch_norm_starts": frame})
    for claim in task.claims:
        assert decide(task, claim, table).word is good(claim)


def test_the_number_the_paper_states_stands_beside_its_claim() -> None:
    (claim,) = [each for each in fig07.task.claims if each.id == "ones_centre_as_stated"]
    assert claim.criterion.paper_value is not None
    assert claim.criterion.paper_value(load_reference(FOLDER, "fig07")) == 0.2
    assert claim.criterion.paper_value(load_reference(FOLDER, "fig21")) is None
