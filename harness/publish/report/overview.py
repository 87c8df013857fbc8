"""The overview page: one row per item and profile, ready for its template."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from harness.declare.verdict import Word
from harness.measure.bench import BenchmarkResult
from harness.publish.check_row import CheckRow
from harness.publish.counts import (
    counted_in_words,
    halves_in_words,
    own_in_words,
    seals_text,
    verdict_counts,
)
from harness.publish.report.load import Entry, Paper
from harness.publish.report.results_md import goal_cells
from harness.publish.report.text import origin, waiting_text


def overview_context(
    papers: Sequence[Paper], benchmarks: Sequence[BenchmarkResult]
) -> dict[str, Any]:
    """Return what `index.html.j2` shows: rows of items, papers, performance goals."""
    rows = [row for paper in papers for entry in paper.entries for row in _rows(entry)]
    return {
        "root": "",
        "rows": rows,
        "papers": [(paper.meta, _counted(paper)) for paper in papers],
        "goals": [goal_cells(item) for item in benchmarks],
        "waiting": waiting_text(papers).replace("`", ""),
        "num_items": sum(len(paper.entries) for paper in papers),
    }


def _counted(paper: Paper) -> list[str]:
    """Say per profile what was found, on what seals, and how many trials come from older code.

    Or why a paper cannot be shown.
    """
    if paper.problem:
        return [f"broken: {paper.problem}"]
    return [
        f"at {p}: {'; '.join(filter(None, [counted_in_words(rows), seals_text(rows), origin(s)]))}"
        for p, s in paper.sources.items()
        if s.num_trials
        for rows in [paper.rows(p)]
    ]


def page_path(entry: Entry) -> str:
    """Return the path of an item's page inside the site."""
    return f"tasks/{entry.id}.html"


def _rows(entry: Entry) -> list[dict[str, Any]]:
    base = {
        "paper": entry.paper,
        "word": entry.item.id,
        "order": sort_key(entry.item.id),
        "title": entry.item.title,
        "page": page_path(entry) if entry.task or entry.broken else "",
        "kind": entry.task.kind if entry.task else "",
    }
    if not entry.runs:
        return [{**base, **_verdicts(entry.not_run), "profile": "", "state": entry.state}]
    rows = []
    for run in entry.runs:
        stem = f"{entry.id}.{run.profile}"
        files = [("figure", f"figures/{stem}.svg")] if run.figure is not None else []
        files += [("table", f"data/{stem}.csv")] if run.table is not None else []
        rows.append(
            {
                **base,
                **_verdicts(run.rows),
                "title": run.labels.text(entry.item.title),
                "profile": run.profile,
                "state": run.problem or ("" if run.rows else "no claims"),
                "files": files,
            }
        )
    return rows


def _verdicts(rows: Sequence[CheckRow]) -> dict[str, Any]:
    """Return the counts of checks, claims and what is apart; rows sort by claims that held."""
    claims = verdict_counts(rows, "claim")
    return {
        "checks": list(verdict_counts(rows, "check").items()),
        "verdicts": list(claims.items()),
        "apart": list(filter(None, [halves_in_words(rows), own_in_words(rows)])),
        "rank": claims.get(Word.REPRODUCED, 0),
    }


def sort_key(word: str) -> str:
    """Return a key that sorts an item's word as a person would.

    >>> sort_key("fig2") < sort_key("fig10")
    True
    """
    return re.sub(r"\d+", lambda match: match.group().zfill(6), word)
