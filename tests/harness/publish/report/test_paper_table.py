"""A table without a layout: its long form in every format."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

from harness.declare.reference import load_reference
from harness.declare.table import Table, param, seed_column, value
from harness.publish.report.paper_table import long_form, table_as
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
    assert rows[1] == ["sp", "1", "5", "2.100 \u00b1 0.045", "a small one instead of SP"]


def test_latex_is_a_booktabs_table_that_names_the_profile(demo: Demo) -> None:
    text = rendered(demo, "latex")
    parts = ("\\toprule", "\\midrule", "profile cpu", "2.100 $\\pm$ 0.045", "Loss \\&")
    assert [part for part in parts if part not in text] == []
    rows = [line for line in text.splitlines() if line.endswith("\\\\")]
    assert {line.count("&") for line in rows} == {3}


@pytest.mark.parametrize("fmt", ["text", "markdown"])
def test_the_paper_s_values_stand_below_and_stand_ins_in_the_title(demo: Demo, fmt: str) -> None:
    text = rendered(demo, fmt)
    assert "Ran on: a small one instead of SP." in text.partition("\n\n")[0].replace("\n", " ")
    assert "- sp, density = 0.5, loss: 3.1 nats (early version)" in text
    assert fmt == "markdown" or max(map(len, text.splitlines())) <= 80


COLUMNS = Table.of(
    param("density", float, "Kept."),
    seed_column("Draw."),
    value("loss", float, "Loss.", nullable=True),
    value("diverged", bool, "Whether."),
)
ROWS = [(1.0, seed, loss, False) for seed, loss in enumerate((2.0, 2.5, 3.0))]
ROWS += [(0.5, seed, loss, np.isnan(loss)) for seed, loss in enumerate((4.0, np.nan, 4.2))]
ROWS += [(0.25, seed, np.nan, True) for seed in range(3)]


def test_diverged_runs_are_counted_and_shown() -> None:
    table = long_form(COLUMNS, pd.DataFrame(ROWS, columns=COLUMNS.names), {})
    assert [table.corner, *map(str, table.columns)] == ["density", "seeds", "loss", "diverged"]
    assert [[str(h), *cells] for h, cells in zip(table.rows, table.texts(), strict=True)] == [
        ["1", "3", "2.50 \u00b1 0.29", "no"],
        ["0.5", "3", "4.10 \u00b1 0.10 (2 of 3)", "1 of 3"],
        ["0.25", "3", "no value", "yes"],
    ]
