"""From readings to reference files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.declare.reference import COLUMNS, load_reference
from harness.errors import DataError
from tools.reference.converter import Row, convert_readings, write_references


def rows(readings: list[Row]) -> Iterator[Row]:
    """Make a reference row of each reading."""
    for row in readings:
        yield {
            "task": "fig01",
            "y_name": "loss",
            "value": row["loss"],
            "status": "exact",
            "source": row["source"],
        }


FILES = {"fig01.csv": ("plot.csv", rows)}


def converted(readings: Path) -> dict[str, str]:
    return convert_readings(readings, FILES, plain_source=str.upper)


def test_rows_get_all_columns_and_a_plain_source(tmp_path: Path) -> None:
    (tmp_path / "plot.csv").write_text("loss,source\n1.50,a plot\n", encoding="utf-8")
    header, row, end = converted(tmp_path)["fig01.csv"].split("\n")
    assert header == ",".join(COLUMNS)
    assert row == "fig01,,,,loss,1.50,,,exact,,A PLOT"
    assert end == ""


def test_command_writes_what_the_harness_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plot.csv").write_text("loss,source\n1.50,a plot\n", encoding="utf-8")
    (tmp_path / "reference").mkdir()
    monkeypatch.setattr("sys.argv", ["convert", str(tmp_path)])
    write_references(tmp_path, "Convert.", converted)
    (found,) = load_reference(tmp_path, "fig01").to_dict("records")
    assert (found["value"], found["value_text"], found["source"]) == (1.5, "1.50", "A PLOT")


def test_missing_readings_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"plot\.csv cannot be read .* name the folder"):
        converted(tmp_path)
