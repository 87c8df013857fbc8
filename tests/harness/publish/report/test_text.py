import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.publish.report.text import PLUS_MINUS, markdown_cell, mean_sem, number, threshold


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ""),
        (math.nan, ""),
        (0.0, "0"),
        (-0.0, "0"),
        (6.0, "6"),
        (256, "256"),
        (0.0625, "0.0625"),
        (3.678123, "3.678"),
        (1.62e-5, "1.62e-05"),
        (12_130_000_000, "1.213e+10"),
        (-10.95, "-10.95"),
        (math.inf, "no bound"),
    ],
)
def test_numbers_read_alike_everywhere(value: float | None, expected: str) -> None:
    assert number(value) == expected


@given(st.floats(min_value=-1e300, max_value=1e300))
def test_number_keeps_four_digits(value: float) -> None:
    assert float(number(value)) == pytest.approx(value, rel=6e-4)


@pytest.mark.parametrize(
    ("mean", "sem", "expected"),
    [
        (2.34567, 0.0123, "2.346 +- 0.012"),
        (2.34567, 0.0, "2.346"),
        (1500.0, 12.0, "1500 +- 12"),
        (3e-6, 2e-7, "3.000e-06 +- 2.0e-07"),
        (math.nan, math.nan, ""),
        (0.0, 0.5, "0.00 +- 0.50"),
        (2.5, math.nan, "2.5"),
    ],
)
def test_mean_is_cut_where_its_error_begins(mean: float, sem: float, expected: str) -> None:
    assert mean_sem(mean, sem).replace(PLUS_MINUS, "+-") == expected


@pytest.mark.parametrize(
    ("form", "value", "expected"),
    [
        ("at_most", 1.0, "at most 1"),
        ("at_least", 2.0, "at least 2"),
        ("more_than", 0.0, "more than 0"),
        ("less_than", 1.0, "less than 1"),
        ("within", [0.7, 1.4], "0.7 to 1.4"),
        ("ratio", [0.25, 4.0], "0.25 to 4"),
        ("ratio", ["-inf", 2.5], "at most 2.5"),
        ("within", (1.0, "inf"), "at least 1"),
        ("equal", 0.0, "equal to 0"),
        ("ordering", 0.0, "every step up"),
        ("strict_ordering", 0.0, "every step strictly up"),
        ("strict_monotone", 0.0, "every step strictly up"),
        ("ordering", -0.5, "every step up by 0.5 or more"),
        ("monotone", 0.5, "every step up, slack 0.5"),
        ("at_most", None, ""),
    ],
)
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
