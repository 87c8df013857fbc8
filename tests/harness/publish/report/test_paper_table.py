import csv
import io

import pytest

from harness.declare.reference import load_reference
from harness.publish.labels import Labels
from harness.publish.report.beside import NO_LABELS
from harness.publish.report.paper_table import paper_table
from harness.registry import Library
from harness.store.workspace import Workspace
from tests.harness.publish.report.demo_paper import TASK, demo_table

Demo = tuple[Workspace, Library]


HERE = Labels({"SP": "a small one", "Loss": "error"}, levels={("scheme", "sp"): "a small one"})


def rendered(demo: Demo, fmt: str, labels: Labels = NO_LABELS) -> str:
    reference = load_reference(demo[1].papers["demo"].folder, "fig02")
    return paper_table(
        TASK,
        demo_table(),
        reference,
        title="Loss & density",
        profile="cpu",
        fmt=fmt,  # type: ignore[arg-type]
        labels=labels,
    )


def test_csv_has_ours_beside_the_paper(demo: Demo) -> None:
    rows = list(csv.reader(io.StringIO(rendered(demo, "csv"))))
    assert rows[0] == ["scheme", "density", "seeds", "loss", "loss (published)"]
    assert rows[1] == ["sp", "1", "3", "2.100 \u00b1 0.058", "2.10"]
    assert rows[2][-1] == "3.1 (early version)"


def test_latex_is_a_booktabs_table_that_names_the_profile(demo: Demo) -> None:
    text = rendered(demo, "latex")
    for part in (
        "\\toprule",
        "\\midrule",
        "\\bottomrule",
        "profile cpu",
        "2.100 $\\pm$ 0.058",
        "Loss \\&",
    ):
        assert part in text
    rows = [line for line in text.splitlines() if line.endswith("\\\\")]
    assert {line.count("&") for line in rows} == {4}


@pytest.mark.parametrize("fmt", ["text", "markdown", "latex"])
def test_parameters_say_what_was_run_and_titles_are_the_paper_s(demo: Demo, fmt: str) -> None:
    text = rendered(demo, fmt, HERE)
    assert "sp (here a small one)" in text
    assert "Loss (here" not in text
