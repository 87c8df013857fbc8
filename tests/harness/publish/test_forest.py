"""The forest plot: where each claim's effect lies, and that nothing is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.declare.verdict import Part, Word
from harness.publish.check_row import CheckRow
from harness.publish.forest import draw_forest, forest_rows
from tests.harness.publish.report.test_claim_line import CLAIM


def claim(**fields: object) -> CheckRow:
    return replace(CLAIM, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "mean", "paper"),
    [
        ({"threshold": 1.0}, 0.1, 0.5),
        ({"form": "at_least", "threshold": 1.0}, -0.1, -0.5),
        # Inside a range as far as from its nearer end; points in place of shares.
        ({"form": "within", "threshold": [0.0, 1.0], "unit": "share"}, 10.0, 50.0),
        # Of a ratio in doublings.
        ({"form": "ratio", "threshold": [0.45, "inf"]}, 1.0, 0.152),
        ({"form": "strict_ordering", "threshold": 0.0}, 0.9, 0.5),
    ],
)
def test_right_of_the_line_supports_the_paper(
    fields: dict[str, object], mean: float, paper: float
) -> None:
    (found,) = forest_rows([claim(paper_value=0.5, **fields)])
    assert found.effects[0].mean == pytest.approx(mean, abs=1e-3)
    assert found.effects[0].low < found.effects[0].mean < found.effects[0].high
    assert found.paper == pytest.approx(paper, abs=1e-3)


def test_each_of_several_numbers_has_an_interval_and_what_was_not_tested_none() -> None:
    parts = tuple(Part(name=str(at), measured=at, low=at - 0.1, high=at) for at in (0.9, 0.2))
    (found,) = forest_rows([claim(parts=parts), claim(verdict=Word.UNTESTED), claim(ours=True)])
    assert [effect.mean for effect in found.effects] == pytest.approx([0.1, 0.8])


def test_equal_rows_give_equal_bytes_and_names_of_what_is_left_out() -> None:
    rows = [claim(), claim(claim="far", measured=-99.0, low=-100.0), claim(verdict=Word.UNTESTED)]
    assert draw_forest(rows, "cpu") == draw_forest(rows, "cpu")
    assert draw_forest(rows, "cpu") != draw_forest(rows[:2], "cpu")
