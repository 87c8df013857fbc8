"""A table without a layout: its long form in every format."""

import csv
import io

import pytest

from harness.declare.reference import load_reference
from harness.publish.report.paper_table import table_as
from harness.registry import Library
from harness.store.workspace import Workspace
from tests.harness.publish.report.demo_paper import TASK, demo_table

Demo = tuple[Workspace, Library]


def rendered(demo: Demo, fmt: str) -> str:
    reference = load_reference(demo[1].papers["demo"].folder, "fig02")
    return table_as(
        fmt,  # type: ignore[arg-type]
        TASK, demo_table(), reference, title="Loss & density", profile="cpu",
        stands_in={"SP": "a small one"},
    )  # fmt: skip


def test_csv_has_a_line_per_point_and_what_stood_in(demo: Demo) -> None:
    rows = list(csv.reader(io.StringIO(rendered(demo, "csv"))))
    assert rows[0] == ["scheme", "density", "seeds", "loss", "ran_on"]
    assert rows[1] == ["sp", "1", "3", "2.100 \u00b1 0.058", "a small one instead of SP"]


def test_latex_is_a_booktabs_table_that_names_the_profile(demo: Demo) -> None:
    text = rendered(demo, "latex")
    parts = ("\\toprule", "\\midrule", "profile cpu", "2.100 $\\pm$ 0.058", "Loss \\&")
    assert [part for part in parts if part not in text] == []
    rows = [line for line in text.splitlines() if line.endswith("\\\\")]
    assert {line.count("&") for line in rows} == {3}


@pytest.mark.parametrize("fmt", ["text", "markdown"])
def test_the_paper_s_values_stand_below_and_stand_ins_in_the_title(demo: Demo, fmt: str) -> None:
    text = rendered(demo, fmt)
    assert "Ran on: a small one instead of SP." in text.partition("\n\n")[0].replace("\n", " ")
    assert "- sp, density = 0.5, loss: 3.1 nats (early version)" in text
    assert fmt == "markdown" or max(map(len, text.splitlines())) <= 80
