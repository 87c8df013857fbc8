"""The overview page: a card per paper, a row per item and profile, ready for its template."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness.declare.verdict import Word
from harness.measure.goals import Baseline
from harness.provenance.seals import STATES
from harness.publish.check_row import CheckRow
from harness.publish.counts import halves_in_words, own_in_words, verdict_counts, worst_first
from harness.publish.labels import Labels
from harness.publish.report.apart import COMMITTED, Apart
from harness.publish.report.goals_md import COLUMNS, goal_tables
from harness.publish.report.headlines import headlines
from harness.publish.report.load import Entry, Paper
from harness.publish.report.results_md import page_of
from harness.publish.report.site.cards import card
from harness.publish.report.text import waiting_text
from harness.store.workspace import COMMITTED_PROFILES


def overview_context(
    papers: Sequence[Paper], baselines: Sequence[Baseline], apart: Apart = COMMITTED
) -> dict[str, Any]:
    """Return what `index.html.j2` shows: cards of papers, rows of items, performance goals."""
    rows = [row for paper in papers for entry in paper.entries for row in _rows(entry, apart)]
    found = {word for row in rows for word, _ in row["verdicts"]}
    of_papers = [paper for paper in papers if paper.is_published]
    others = [paper for paper in papers if not paper.is_published]
    return {
        "root": "",
        "rows": rows,
        "apart": apart,
        "cards": [
            card(p, [told.text for told in headlines(p)], page=apart.linked(page_of(p.meta.id)))
            for p in (*of_papers, *others)
        ],
        "buttons": {
            "verdict": [word for word in Word if word in found],
            "paper": list(dict.fromkeys(row["paper"] for row in rows)),
        },
        # Who asks for a variant wants what was run of it, also where that says nothing of a paper.
        "any_smoke": not apart.label and any(row["profile"] == "smoke" for row in rows),
        "goals": goal_tables(baselines),
        "goal_heads": COLUMNS,
        "seals": {state: told for state, told in STATES.items() if state != "none"},
        "waiting": waiting_text(papers),
        "num_papers": len(of_papers),
        "num_items": sum(len(paper.entries) for paper in of_papers),
        # A collection that is no paper, as that of kernels, is counted apart.
        "beside": [(len(paper.entries), paper.meta.title) for paper in others],
    }


def _rows(entry: Entry, apart: Apart) -> list[dict[str, Any]]:
    base = {
        "paper": entry.paper,
        "word": entry.item.id,
        "order": sort_key(entry.item.id),
        "title": entry.item.title,
        "page": entry.page,
    }
    rows = []
    if not apart.label and not (beyond := entry.only(COMMITTED_PROFILES)).runs:
        # What was run at smoke alone has the same verdicts as what was never run.
        state = entry.state or ": ".join(filter(None, ["not run beyond `smoke`", entry.waits]))
        state += "; verdicts as at `cpu`" if beyond.not_run else ""
        alone = {"profile": "", "state": state, "files": []}
        rows = [{**base, **_told(entry, beyond.not_run, entry.to_run), **alone}]
    for run in entry.runs:
        # All that one cohort says is counted there, whichever one decides.
        told = [replace(row, decides=True) for row in run.rows] if apart.label else run.rows
        stem = f"{entry.id}.{run.profile}"
        files = [("figure", f"figures/{stem}.svg")] if run.figure is not None else []
        files += [("table", f"data/{stem}.csv")] if run.table is not None else []
        rows.append(
            {
                **base,
                **_told(entry, told, run.labels),
                "title": run.labels.text(entry.item.title),
                "profile": run.profile,
                "state": run.problem or ("" if run.rows else "no claims"),
                "files": files,
            }
        )
    return rows


def _told(entry: Entry, rows: Sequence[CheckRow], labels: Labels) -> dict[str, Any]:
    """Return the counts of checks, claims and what is apart, and what all claims say.

    Rows sort by claims that held.
    """
    checks, claims = verdict_counts(rows, "check"), verdict_counts(rows, "claim")
    declared = entry.task.claims if entry.task else ()
    return {
        "checks": worst_first(checks),
        "verdicts": worst_first(claims),
        "words": [*dict.fromkeys(row.profile for row in rows), *checks, *claims],
        "statements": [labels.statement(claim) for claim in declared],
        "apart": list(filter(None, [halves_in_words(rows), own_in_words(rows)])),
        "rank": claims.get(Word.REPRODUCED, 0),
    }


def sort_key(word: str) -> str:
    """Return a key that sorts an item's word as a person would.

    >>> sort_key("fig2") < sort_key("fig10")
    True
    """
    return re.sub(r"\d+", lambda match: match.group().zfill(6), word)
