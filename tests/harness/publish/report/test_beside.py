import numpy as np
import pandas as pd

from harness.declare.reference import COLUMNS as REFERENCE_COLUMNS
from harness.declare.table import Column, Table
from harness.publish.report.beside import Beside, beside


def column(name: str, type: str, role: str) -> Column:
    return Column(name=name, type=type, role=role, doc=name)  # type: ignore[arg-type]


COLUMNS = Table(
    (
        column("scheme", "str", "param"),
        column("density", "float", "param"),
        column("step", "int", "param"),
        column("seed", "int", "seed"),
        column("loss", "float", "value"),
        column("diverged", "bool", "value"),
    )
)
TABLE = pd.DataFrame(
    [
        ("sp", 1.0, 0, seed, loss, bad)
        for seed, loss, bad in [(0, 2.0, False), (1, 2.5, False), (2, 3.0, False)]
    ]
    + [("sp", 0.5, 0, seed, loss, np.isnan(loss)) for seed, loss in enumerate([4.0, np.nan, 4.2])]
    + [("sp", 0.5, 9, seed, np.nan, True) for seed in range(3)],
    columns=COLUMNS.names,
)


def reference(*rows: tuple[object, ...]) -> pd.DataFrame:
    """Rows of (series, x_name, x, y_name, value_text, status)."""
    full = []
    for series, x_name, x, y_name, text, status in rows:
        try:
            value = float(str(text))
        except ValueError:
            value = np.nan
        full.append(
            ("t", series, x_name, x, y_name, value, "", np.nan, status, "v", "the source", text)
        )
    return pd.DataFrame(full, columns=[*REFERENCE_COLUMNS, "value_text"])


def paper_cells(content: Beside, name: str = "loss") -> list[str | None]:
    position = [value.name for value in content.values].index(name)
    cells = [line.papers[position] for line in content.lines]
    return [str(cell) if cell else None for cell in cells]


def test_diverged_runs_are_counted_and_shown() -> None:
    content = beside(COLUMNS, TABLE, reference())
    assert content.lines[1].ours[0].endswith("(2 of 3)")
    assert [line.ours[0] for line in content.lines][2] == "no value"
    assert [line.ours[1] for line in content.lines] == ["no", "1 of 3", "yes"]


def test_value_stands_beside_the_line_it_names() -> None:
    rows = reference(
        ("SP 0", "density", 1.0, "loss", "2.40", "exact"),
        ("sp step=0", "density", 0.5, "loss", "3.9", "early_version"),
    )
    assert paper_cells(beside(COLUMNS, TABLE, rows)) == ["2.40", "3.9 (early version)", None]


def test_value_stated_for_several_lines_says_so() -> None:
    rows = reference(
        ("sp", "density", 0.5, "loss", "3.9", "early_version"),
        ("sp 9", "density", 0.5, "loss", "4.5", "exact"),
    )
    content = beside(COLUMNS, TABLE, rows)
    assert paper_cells(content) == [None, "3.9 (early version, for 2 lines)", "4.5"]
    assert content.others == ()


def test_value_at_another_setting_is_kept_aside() -> None:
    rows = reference(
        ("sp 0", "density", 0.25, "loss", "5", "exact"),
        ("mup 0", "density", 1.0, "loss", "6", "exact"),
        ("sp 0", "width", 4096.0, "loss", "7", "exact"),
        ("sp 0", "density", 1.0, "accuracy", "8", "exact"),
    )
    content = beside(COLUMNS, TABLE, rows)
    assert paper_cells(content) == [None, None, None]
    assert [row.cell.text for row in content.others] == ["5", "6", "7", "8"]
    assert content.in_paper == (False, False)
