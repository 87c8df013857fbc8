import math

from hypothesis import given
from hypothesis import strategies as st

from harness.publish.report.text import markdown_cell, number

NUMBERS = {
    "": (None, math.nan), "0": (0.0, -0.0), "6": (6.0, 6), "0.0625": (0.0625,),
    "3.678": (3.678123,), "1.62e-05": (1.62e-5,), "1.213e+10": (12_130_000_000,),
    "-10.95": (-10.95,), "no bound": (math.inf,),
}  # fmt: skip


def test_numbers_read_alike_everywhere() -> None:
    for text, values in NUMBERS.items():
        assert [number(value) for value in values] == [text] * len(values)


@given(st.text())
def test_markdown_cell_stays_in_its_cell(text: str) -> None:
    cell = markdown_cell(text)
    assert "\n" not in cell
    assert "<" not in cell
    bare = cell.replace("\\\\", "").replace("\\|", "").replace("\\`", "").replace("\\[", "")
    assert not {"|", "["} & set(bare)
    assert bare.count("`") % 2 == 0
