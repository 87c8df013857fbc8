"""A layout made by hand: what stands in a cell, and what does not."""

from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.declare.layout import Cell, Layout, Line
from harness.declare.reference import COLUMNS as REFERENCE_COLUMNS
from harness.declare.table import Table, param, seed_column, value
from harness.declare.task import Task
from harness.publish.report.formats import as_latex, as_markdown, as_text, markdown_tables
from harness.publish.report.paper_table import TABLE_FORMATS, TableFormat, table_as
from harness.publish.report.printed import Printed, print_tables
from harness.publish.report.text import markdown_cell

SIZES = ("small", "large")
LAYOUT = Layout(
    rows=(
        *(
            Line(size, group="on a GPU", where={"size": size}, paper={"series": size})
            for size in SIZES
        ),
        Line("ours", where={"size": "tiny"}),
        Line("diverged", where={"size": "huge"}),
    ),
    columns=(
        Line("full", where={"method": "full"}, paper={"series": "full"}),
        Line("r = 8", group="LoRA_1", where={"method": "lora"}, paper={"series": "lora", "x": "8"}),
    ),
    cell=Cell("peak_bytes", unit="GB", scale=1e9, digits=1),
    title="Peak memory",
    notes=("One GPU.",),
)
TABLE = Table.of(
    param("size", str, "Size."),
    param("method", str, "Method."),
    seed_column("Draw."),
    value("peak_bytes", float, "Peak.", nullable=True),
)
OURS = [
    ("small", "full", 0, 1e9),
    ("small", "full", 1, 2e9),
    ("small", "full", 2, 3e9),
    ("large", "full", 0, 4e9),
    ("tiny", "full", 0, 0.2e9),
    ("tiny", "lora", 0, 0.3e9),
    ("tiny", "lora", 1, None),
    ("huge", "full", 0, None),
]
PAPERS = [
    # Words of a series in any order, and a number that is written otherwise.
    ("full small", "", "", "peak", "2.5", "GB", "exact"),
    ("small lora", "rank", "8.0", "peak", "1.5", "GB", "early_version"),
    ("large full", "", "", "peak", "5e9", "", "digitised"),
    ("lora large", "rank", "8", "peak", "OOM", "GB", "third_party"),
    ("lora large", "rank", "16", "peak", "7", "GB", "exact"),
    ("small full", "", "", "peak", "2.6", "GB", "derived"),
]


def reference(rows: list[tuple[str, ...]] = PAPERS) -> pd.DataFrame:
    frame = pd.DataFrame(
        [("tab01", *row[:6], "", row[6], "final", "Table 1") for row in rows],
        columns=list(REFERENCE_COLUMNS),
    )
    frame["value_text"] = frame["value"]
    for name in ("x", "value"):
        frame[name] = pd.to_numeric(frame[name], errors="coerce")
    return frame


def printed(
    *layouts: Layout,
    rows: list[tuple[str, ...]] = PAPERS,
) -> Printed:
    task = Task("demo/tab01", reads=(), table=TABLE, layout=layouts or (LAYOUT,))
    table = pd.DataFrame(OURS, columns=TABLE.names)
    return print_tables(task, table, reference(rows))


def test_a_cell_has_ours_its_spread_and_the_papers_value_with_its_mark() -> None:
    texts = printed().tables[0].texts()
    assert texts == [
        ["2.0 \u00b1 0.6 / 2.5", "x / 1.5e"],
        ["4.0 / 5t", "x / OOM3"],
        ["0.2 / n", "0.3 (1 of 2) / n"],
        ["- / n", ""],
    ]


def test_the_legend_names_the_marks_that_occur_and_no_other() -> None:
    legend = printed().tables[0].notes[0]
    for words in (
        "standard error of the mean over 3 seeds",
        "t digitised",
        "e early version",
        "3 third party",
        "n not known here",
        "x not run here",
        "- no value of ours",
        "empty where there is neither",
    ):
        assert words in legend
    assert "d derived" not in legend


def test_what_meets_no_cell_is_listed() -> None:
    """One at another rank; and the second of two that meet one cell."""
    assert printed().others == (
        "lora large, rank = 16, peak: 7 GB (paper)",
        "small full, peak: 2.6 GB (derived)",
    )
    text = as_text(printed())
    assert "in no cell:\n- lora large, rank = 16, peak: 7 GB (paper)" in text


def test_without_any_value_of_the_paper_cells_hold_ours_alone() -> None:
    table = printed(rows=[]).tables[0]
    assert table.texts()[0] == ["2.0 \u00b1 0.6", "x"]
    assert table.notes[0].startswith("Ours alone: no value of the paper is at hand;")


def test_sides_with_columns_of_their_own_stand_apart() -> None:
    full = LAYOUT.columns[0]
    paper, ours = (replace(full, shows=side) for side in ("paper", "ours"))
    apart = printed(replace(LAYOUT, columns=(paper, ours))).tables[0]
    assert apart.texts()[:2] == [["2.5", "2.0 \u00b1 0.6"], ["5t", "4.0"]]
    assert apart.notes[0].startswith("Ours and the paper's, each in a column of its own;")
    beside = printed(replace(LAYOUT, columns=(full, replace(ours, paper={})))).tables[0]
    assert beside.texts()[0] == ["2.0 \u00b1 0.6 / 2.5", "2.0 \u00b1 0.6"]
    lora = replace(LAYOUT.columns[1], shows="ours")
    alone = printed(replace(LAYOUT, columns=(full, replace(lora, paper={})))).tables[0]
    assert [row[1] for row in alone.texts()] == ["", "", "0.3 (1 of 2)", ""]
    assert beside.notes[0].startswith("Ours / the paper's; a column of single values is ours;")


def test_a_row_that_repeats_the_paper_beside_nothing_of_ours_is_left_out() -> None:
    again = Line("small", group="elsewhere", where={"size": "none"}, paper={"series": "small"})
    layout = Layout(rows=(*LAYOUT.rows, again), columns=LAYOUT.columns, cell=LAYOUT.cell)
    table = printed(layout).tables[0]
    assert [head.text for head in table.rows] == ["small", "large", "ours", "diverged"]
    assert "Left out, as not run here: elsewhere." in table.notes
    # Of a group that stands there it is said which row does not.
    there = replace(LAYOUT.rows[0], group="elsewhere")
    more = printed(replace(layout, rows=(there, *LAYOUT.rows[1:], again))).tables[0]
    assert "Left out, as not run here: small (elsewhere)." in more.notes


def test_latex_reads_no_text_as_a_command() -> None:
    text = as_latex(replace(printed(), title="Peak & size", where="profile cpu"))
    for part in (
        r"\caption{Peak \& size: Peak memory, in GB (profile cpu).}\label{tab:demo-tab01}",
        r"LoRA\_1",
        r"2.0 $\pm$ 0.6 / 2.5",
        r"x / 1.5\textsuperscript{e}",
        r"\cmidrule(lr){3-3}",
        r"\emph{on a GPU}",
        "% not in a cell: lora large, rank = 16, peak: 7 GB (paper)",
    ):
        assert part in text


@pytest.mark.parametrize("fmt", TABLE_FORMATS)
@pytest.mark.parametrize("long", [False, True])
def test_a_table_of_a_variant_says_so_in_every_form(fmt: TableFormat, long: bool) -> None:
    def shown(aside: str) -> str:
        task = Task("demo/tab01", reads=(), table=TABLE, layout=LAYOUT)
        ours = pd.DataFrame(OURS, columns=TABLE.names)
        options = {
            "title": "Peak", "profile": "cpu", "long": long, "aside": aside, "stands_in": {},
        }  # fmt: skip
        return table_as(fmt, task, ours, reference(), **options)  # type: ignore[arg-type]

    assert "variant width=9" in shown("variant width=9")
    assert "variant" not in shown("")


def test_markdown_names_groups_and_lists_or_counts_the_rest() -> None:
    text = as_markdown(printed())
    assert "| **on a GPU** |  |  |\n| small | 2.0 \u00b1 0.6 / 2.5 | x / 1.5e |" in text
    assert text.endswith("- small full, peak: 2.6 GB (derived)\n")
    assert "in no cell" not in markdown_tables(printed())


@given(st.text())
def test_markdown_cell_stays_in_its_cell(text: str) -> None:
    cell = markdown_cell(text)
    assert "\n" not in cell
    assert "<" not in cell
    bare = cell.replace("\\\\", "").replace("\\|", "").replace("\\`", "").replace("\\[", "")
    assert not {"|", "["} & set(bare)
    assert bare.count("`") % 2 == 0
