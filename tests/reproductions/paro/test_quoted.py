"""Every number of the reference that stands for no claim has a cell of a printed table."""

from __future__ import annotations

import pytest

from harness.declare.reference import load_reference
from harness.publish.report.printed import Printed, print_tables
from reproductions.paro.predictions import headline, tab15
from reproductions.paro.ring_times import fig05
from tests.checkout import PAPERS
from tests.reproductions.paro.tables import table_of

TASKS = (headline.task, tab15.task, fig05.task)


def printed(word: str) -> Printed:
    task = next(task for task in TASKS if task.word == word)
    reference = load_reference(PAPERS / "paro", word)
    return print_tables(task, table_of(task), reference)


@pytest.mark.parametrize("word", ["headline", "tab15", "fig05"])
def test_every_quoted_number_stands_in_a_cell(word: str) -> None:
    assert printed(word).others == ()


def test_they_stand_as_the_text_has_them() -> None:
    cells = {
        word: [text for table in printed(word).tables for row in table.texts() for text in row]
        for word in ("headline", "tab15", "fig05")
    }
    for word, numbers in {
        "headline": ("266", "1.19 e", "2.5 e", "1.2 e", "2.6 e", "129", "152", "17"),
        "fig05": ("25.2", "39.7", "36.5", "36.5 e", "32.6 e"),
    }.items():
        assert {n.replace(" ", "") for n in numbers} <= {c.replace(" ", "") for c in cells[word]}
    assert [c.split(" / ")[1] for c in cells["tab15"] if " / " in c] == ["0.62", "0.47", "32"]


def test_the_batch_called_best_is_best_for_both() -> None:
    table = table_of(tab15.task)
    flat = table[table["world"] == "flat"]
    for name in ("IIG", "GGG"):
        own = flat[flat["strategy"] == name].sort_values("samples_per_s_at_most")
        assert own[["micro_batch", "accumulation"]].to_numpy()[-1].tolist() == [16, 10]
