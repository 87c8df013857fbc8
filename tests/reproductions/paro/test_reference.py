"""The paper's values: what is there, how it may be called, and that nothing is made up."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.declare.reference import load_reference, published
from reproductions.paro.method.strategy import ALL
from tests.checkout import PAPERS

FOLDER = PAPERS / "paro"


@pytest.fixture(scope="module")
def reference() -> pd.DataFrame:
    return load_reference(FOLDER)


def test_marks_of_table_1_follow_the_rule(reference: pd.DataFrame) -> None:
    own = reference[reference["task"] == "tab01"]
    marks = own[own["y_name"] == "effective"].set_index("series")["value"].astype(bool).to_dict()
    assert marks == {strategy.letters: strategy.is_effective for strategy in ALL}
    counts = own[own["status"] == "exact"].set_index("y_name")["value"].to_dict()
    assert counts == {"num_effective": 14, "num_eliminated": 13}


def test_preprints_do_not_pass_as_the_paper(reference: pd.DataFrame) -> None:
    own = reference[reference["version"].str.contains("arXiv")]
    assert set(own["value"]) == {1.19, 2.5, 36.5, 1.2, 2.6, 32.6}
    assert set(own["status"]) == {"early_version"}
    headline = published(reference[reference["task"] == "headline"])
    assert headline.set_index("y_name")["value"]["max_training_speed_vs_ZeRO3"] == 266
