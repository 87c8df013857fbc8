"""`results/verdicts.json`: every verdict in a committed profile, a line each, for `repro diff`.

A row is what `repro check --json` prints, its keys in that order, with `differences` from its seal:
they are a tenth of the file, which stays below a megabyte for one profile of all papers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from harness.declare.overrides import Overrides
from harness.publish.check_row import CheckRow
from harness.publish.report.load import Paper
from harness.publish.verdicts import json_rows
from harness.registry import Library

VERDICTS = PurePosixPath("results/verdicts.json")
DIGITS = 9
"""Significant ones, of every number: what a processor rounds in another way must not show."""


def verdicts_json(library: Library, papers: Sequence[Paper]) -> str:
    """Return the file: of each item what it is shown with, papers and tasks by their names."""
    rows = sorted(
        (row for paper in papers for row in _rows(paper)), key=lambda row: (row.task, row.profile)
    )
    return as_text(json_rows(library, Overrides(), rows))


def _rows(paper: Paper) -> Iterator[CheckRow]:
    for entry in paper.entries:
        yield from entry.not_run
        for run in entry.runs:
            yield from run.rows
    yield from paper.withdrawn


def as_text(rows: Iterable[dict[str, Any]]) -> str:
    """Return JSON rows as an array with a line each; the same rows give the same text.

    >>> print(as_text([{"claim": "a", "measured": 0.1 + 0.2}]), end="")
    [
    {"claim": "a", "measured": 0.3}
    ]
    """
    lines = [json.dumps(_rounded(row), ensure_ascii=False, allow_nan=False) for row in rows]
    return "[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, (list, tuple)) else value
