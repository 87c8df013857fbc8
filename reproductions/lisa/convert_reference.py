"""Convert CSVs of readings into `reference/*.csv`: `python -m ... READINGS_FOLDER`.

The readings hold what is known of the paper; this script is the only way from there into the
repository, so that no value is typed twice. Which status a row gets:

- Table 1 and Figure 3 are known from an early version alone, the figure read off pixels with an
  error of 0.4 GB: `early_version`;
- numbers that the running text of the proceedings prints are `exact`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.errors import DataError
from harness.readings import Files, Row, convert_readings, write_references

CAMERA_READY = "NeurIPS 2024 camera-ready"
EARLY = "an early arXiv version, before 2024-05-25"
READING_ERROR_GB = "0.4"
TEXT_TASKS = {
    "memory": "tab01",
    "time": "fig04",
    "quality": "tab03",
    "ablation": "tab07",
    "continual pretraining": "tab04",
    "70B": "tab05",
}
"""Group of a number in the text -> the item it holds for."""


def main() -> None:
    """Write every reference file. Raises DataError for a file that is missing."""
    write_references(Path(__file__).parent, __doc__.splitlines()[0], convert)


def convert(readings: Path) -> dict[str, str]:
    """Return the reference files by name, as CSV text. Raises DataError for a file that is
    missing, and for a group of numbers whose item is not known here."""
    return convert_readings(readings, FILES, plain_source=_source)


def _source(text: str) -> str:
    """Return where a value stands, without how it came to be read there."""
    if text.startswith("early arXiv version"):
        return "screenshot of an early arXiv version"
    if text.startswith("NeurIPS camera-ready text"):
        return "machine-read text of the proceedings PDF"
    return text


def peaks(rows: list[Row]) -> Iterator[Row]:
    """Yield Table 1's cells; a model that ran out of memory has no number."""
    for row in rows:
        yield {
            "task": "tab01",
            "series": row["model"],
            "y_name": row["config"],
            "value": row["peak_gpu_memory"],
            "unit": "GB",
            "status": "early_version",
            "version": EARLY,
            "source": "; ".join(filter(None, [row["source"], row["note"]])),
        }


def breakdown(rows: list[Row]) -> Iterator[Row]:
    """Yield Figure 3's bars, component by component."""
    for row in rows:
        yield {
            "task": "fig03",
            "series": row["method"],
            "y_name": row["component"],
            "value": row["value"],
            "unit": row["unit"],
            "abs_err": READING_ERROR_GB,
            "status": "early_version",
            "version": EARLY,
            "source": "; ".join(filter(None, [row["source"], row["note"]])),
        }


def text(rows: list[Row]) -> Iterator[Row]:
    """Yield numbers of the running text; remarks of third parties are left out."""
    for row in rows:
        if row["group"] not in TEXT_TASKS:
            raise DataError(f"a number of the group {row['group']!r} has no item: add it")
        if row["source"].startswith("third-party"):
            continue
        yield {
            "task": TEXT_TASKS[row["group"]],
            "series": row["group"],
            "y_name": row["claim"],
            "value": row["value"],
            "unit": row["unit"],
            "status": "exact",
            "version": CAMERA_READY,
            "source": row["source"],
        }


FILES: Files = {
    "table1_peak_memory.csv": ("table1_peak_memory.csv", peaks),
    "fig3_memory_breakdown.csv": ("fig3_memory_breakdown.csv", breakdown),
    "text_numbers.csv": ("text_claims.csv", text),
}


if __name__ == "__main__":
    main()
