"""The paper's values: marks follow the rule, and a number that stands for no claim is printed."""

from __future__ import annotations

import pytest

from harness.declare.reference import load_reference, published
from harness.declare.task import Task
from harness.publish.report.printed import print_tables
from reproductions.paro.method.strategy import ALL
from reproductions.paro.predictions import headline, tab15
from reproductions.paro.ring_times import fig05
from tests.checkout import PAPERS
from tests.reproductions.paro.tables import table_of


def test_marks_of_table_1_follow_the_rule() -> None:
    own = load_reference(PAPERS / "paro", "tab01")
    marks = own[own["y_name"] == "effective"].set_index("series")["value"].astype(bool).to_dict()
    assert marks == {strategy.letters: strategy.is_effective for strategy in ALL}
    counts = own[own["status"] == "exact"].set_index("y_name")["value"].to_dict()
    assert counts == {"num_effective": 14, "num_eliminated": 13}


def test_preprints_do_not_pass_as_the_paper() -> None:
    reference = load_reference(PAPERS / "paro")
    own = reference[reference["version"].str.contains("arXiv")]
    assert set(own["value"]) == {1.19, 2.5, 36.5, 1.2, 2.6, 32.6}
    assert set(own["status"]) == {"early_version"}
    found = published(reference[reference["task"] == "headline"])
    assert found.set_index("y_name")["value"]["max_training_speed_vs_ZeRO3"] == 266


@pytest.mark.parametrize(
    "task", (headline.task, tab15.task, fig05.task), ids=lambda task: task.word
)
def test_every_quoted_number_stands_in_a_cell(task: Task) -> None:
    reference = load_reference(PAPERS / "paro", task.word)
    assert print_tables(task, table_of(task), reference).others == ()
