"""What the pages say that methods compose with is what they do."""

from __future__ import annotations

import pytest

from tests.composes.cells import ROWS, Cell, sentence_of
from tests.composes.costs import costs_block
from tests.composes.pages import (
    NAMES,
    method_of,
    refusal_of,
    row_of,
    shown,
)
from tests.composes.ranked import on_two_ranks
from tests.warm import Warm

AGAIN = "python -m tests.composes --write"
CELLS = [(name, row) for name in NAMES for row in method_of(name).CELLS]
REFUSALS = [(name, what) for name in NAMES for what in method_of(name).REFUSES]


@pytest.mark.parametrize(("name", "row"), CELLS)
def test_a_cell_is_as_shown(name: str, row: str) -> None:
    assert row_of(row, method_of(name).CELLS[row]()) in shown(name, "composes"), AGAIN


@pytest.fixture(scope="module")
def ranked(warm: Warm) -> dict[str, dict[str, Cell]]:
    with warm.serving():
        return on_two_ranks(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_what_two_ranks_try_is_as_shown(name: str, ranked: dict[str, dict[str, Cell]]) -> None:
    found = {row_of(row, cell) for row, cell in ranked[name].items()}
    assert found <= {*shown(name, "composes")}, AGAIN


@pytest.mark.parametrize(("name", "what"), REFUSALS)
def test_a_refusal_is_as_shown(name: str, what: str) -> None:
    sentence = sentence_of(method_of(name).REFUSES[what])
    assert refusal_of(what, sentence) in shown(name, "refuses"), AGAIN


@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_nothing_that_is_not_tried(name: str) -> None:
    method = method_of(name)
    assert sorted([*method.CELLS, *method.RANKED]) == sorted(ROWS)
    assert [line.split("|")[1].strip() for line in shown(name, "composes")[2:]] == [*ROWS.values()]
    assert len(shown(name, "refuses")) == len(method.REFUSES)


@pytest.mark.parametrize("name", NAMES)
def test_costs_are_those_of_committed_results(name: str) -> None:
    assert shown(name, "costs") == costs_block(name).splitlines(), f"{AGAIN} --costs"


def test_what_is_taken_without_a_word_fails_its_cell() -> None:
    with pytest.raises(AssertionError, match="without a word"):
        sentence_of(lambda: None)
