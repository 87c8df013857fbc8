import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.publish.report.text import markdown_cell, number, threshold

NUMBERS = {
    "": (None, math.nan), "0": (0.0, -0.0), "6": (6.0, 6), "0.0625": (0.0625,),
    "3.678": (3.678123,), "1.62e-05": (1.62e-5,), "1.213e+10": (12_130_000_000,),
    "-10.95": (-10.95,), "no bound": (math.inf,),
}  # fmt: skip


def test_numbers_read_alike_everywhere() -> None:
    for text, values in NUMBERS.items():
        assert [number(value) for value in values] == [text] * len(values)


THRESHOLDS = [
    ("at_most", 1.0, "at most 1"), ("at_least", 2.0, "at least 2"),
    ("more_than", 0.0, "more than 0"), ("less_than", 1.0, "less than 1"),
    ("within", [0.7, 1.4], "0.7 to 1.4"), ("ratio", ["-inf", 2.5], "at most 2.5"),
    ("within", (1.0, "inf"), "at least 1"), ("equal", 0.0, "equal to 0"),
    ("ordering", 0.0, "every step up"), ("strict_ordering", 0.0, "every step strictly up"),
    ("ordering", -0.5, "every step up by 0.5 or more"),
    ("monotone", 0.5, "every step up, slack 0.5"), ("at_most", None, ""),
]  # fmt: skip


@pytest.mark.parametrize(("form", "value", "expected"), THRESHOLDS)
def test_threshold_says_what_is_asked(form: str, value: object, expected: str) -> None:
    assert threshold(form, value) == expected


@given(st.text())
def test_markdown_cell_stays_in_its_cell(text: str) -> None:
    cell = markdown_cell(text)
    assert "\n" not in cell
    assert "<" not in cell
    bare = cell.replace("\\\\", "").replace("\\|", "").replace("\\`", "").replace("\\[", "")
    assert not {"|", "["} & set(bare)
    assert bare.count("`") % 2 == 0
