"""Convert CSVs of readings into `reference/*.csv`: `python -m ... READINGS_FOLDER`.

The paper's full text is known (arXiv v2): cells of tables are `exact`, points of its drawings
`digitised` from their vector coordinates. The readings are in our columns already; one file per
item of the paper is made of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tools.reference.converter import PAPERS, Files, Row, convert_readings, write_references


def main() -> None:
    """Write every reference file. Raises DataError for a file that is missing."""
    write_references(PAPERS / "fg2u", __doc__.splitlines()[0], convert)


def convert(readings: Path) -> dict[str, str]:
    """Return the reference files by name, as CSV text. Raises DataError for a missing file."""
    return convert_readings(readings, FILES, plain_source=str)


def as_they_are(rows: list[Row]) -> Iterator[Row]:
    """Yield rows that are in the columns of a reference."""
    yield from rows


FILES: Files = {
    "fig01_methods_arxiv_v2.csv": ("figure1_methods.csv", as_they_are),
    "fig01_memory_arxiv_v2.csv": ("figure1_memory_score.csv", as_they_are),
    "fig01_efficiency_arxiv_v2.csv": ("figure1_efficiency.csv", as_they_are),
    "fig02_errors_arxiv_v2.csv": ("figure2_errors.csv", as_they_are),
    "fig02_cost_arxiv_v2.csv": ("figure2_cost.csv", as_they_are),
    "figb1_arxiv_v2.csv": ("figure_b1_convergence.csv", as_they_are),
    "settings_arxiv_v2.csv": ("settings.csv", as_they_are),
    "tab01_arxiv_v2.csv": ("table1_accuracy.csv", as_they_are),
    "tab02_arxiv_v2.csv": ("table2_camels.csv", as_they_are),
    "tabg1_tabg2_arxiv_v2.csv": ("appendix_g_tables.csv", as_they_are),
}

if __name__ == "__main__":
    main()
