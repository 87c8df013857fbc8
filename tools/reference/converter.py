"""From CSVs of readings to a paper's `reference/*.csv`: the frame of each paper's converter.

A converter is the only way from the readings into the repository, so that no value is typed
twice.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from harness.atomic import write_text
from harness.declare.reference import COLUMNS
from harness.errors import DataError

PAPERS = Path(__file__).resolve().parents[2] / "reproductions"
"""Whose folders take what is made."""

Row = dict[str, str]
Conversion = Callable[[list[Row]], Iterator[Row]]
Files = Mapping[str, tuple[str, Conversion]]
"""Reference file -> (file of readings, its conversion)."""


def convert_readings(
    readings: Path, files: Files, *, plain_source: Callable[[str], str]
) -> dict[str, str]:
    """Return the reference files by name, as CSV text.

    plain_source: from a reading's `source` to how the repository names it.
    Raises DataError for a file that is missing.
    """
    return {
        target: _csv(convert_rows(_read(readings / source, plain_source)))
        for target, (source, convert_rows) in files.items()
    }


def write_references(
    folder: Path, description: str, convert: Callable[[Path], dict[str, str]]
) -> None:
    """Be the command line of a converter: write what it makes into `folder`/reference."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("readings", type=Path, help="folder with the CSVs of readings")
    for name, text in convert(parser.parse_args().readings).items():
        path = folder / "reference" / name
        write_text(path, text)
        sys.stderr.write(f"{path}: {text.count(chr(10)) - 1} rows\n")


def _read(path: Path, plain_source: Callable[[str], str]) -> list[Row]:
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream, strict=True))
    except OSError as error:
        raise DataError(
            f"{path} cannot be read ({error}): name the folder of the readings"
        ) from error
    return [{**row, "source": plain_source(row["source"])} for row in rows]


def _csv(rows: Iterable[Row]) -> str:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, COLUMNS, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()
