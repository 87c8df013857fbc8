"""What the site's templates show: the overview with a card per paper, and a page per item."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any

from harness.declare.reference import NOT_KNOWN
from harness.declare.verdict import Word
from harness.measure.goals import Baseline
from harness.publish.counts import CLAIMS, MARKS, counted, verdict_counts
from harness.publish.report.claim_line import folded_head, in_order
from harness.publish.report.goals_md import COLUMNS, goal_tables
from harness.publish.report.headlines import headlines
from harness.publish.report.load import Entry, Paper, Run
from harness.publish.report.pages_md import gaps, page_of, summary_lines
from harness.publish.report.printed import Head, beside_run, print_entry, print_run
from harness.publish.report.text import PLUS_MINUS, duration
from harness.store.meta import ProvenanceMeta

TOP = "../"
"""From the site's first page to the top of the checkout."""
UP = "../../"
"""From a task's page to the top of the site."""


def overview_context(papers: Sequence[Paper], baselines: Sequence[Baseline]) -> dict[str, Any]:
    """Return what `index.html.j2` shows: cards of papers, rows of items, performance goals."""
    rows = [row for paper in papers for entry in paper.entries for row in _rows(entry)]
    found = {word for row in rows for word in row["words"]}
    return {
        "root": "",
        "rows": rows,
        "papers": papers,
        "buttons": {
            "verdict": [word for word in Word if word in found],
            "paper": list(dict.fromkeys(row["paper"] for row in rows)),
        },
        "any_smoke": any(row["profile"] == "smoke" for row in rows),
        "marks": [(MARKS[word], word.lower()) for word in CLAIMS],
        "goals": goal_tables(baselines),
        "goal_heads": COLUMNS,
    }


def _rows(entry: Entry) -> list[dict[str, Any]]:
    """Return an item's rows: one per profile; one that says why where none is stored."""
    base = {
        "paper": entry.paper,
        "word": entry.item.id,
        "order": sort_key(entry.item.id),
        "title": entry.item.title,
        "page": entry.page,
    }
    if not entry.runs:
        told = {"profile": "", "verdicts": "", "state": entry.state, "rank": 0}
        return [{**base, **told, "words": [], "statements": [], "files": []}]
    rows = []
    for run in entry.runs:
        stem, claims = f"{entry.id}.{run.profile}", verdict_counts(run.rows, "claim")
        files = [("figure", f"figures/{stem}.svg")] if run.figure is not None else []
        files += [("table", f"data/{stem}.csv")] if run.csv is not None else []
        rows.append(
            base
            | {
                "profile": run.profile,
                "verdicts": counted(run.rows),
                "words": [*claims, *verdict_counts(run.rows, "check")],
                "rank": claims.get(Word.SUPPORTED, 0),
                "statements": [row.statement for row in run.rows],
                "state": run.problem or ("" if run.rows else "no claims"),
                "files": files,
            }
        )
    return rows


def sort_key(word: str) -> str:
    """Return a key that sorts an item's word as a person would.

    >>> sort_key("fig2") < sort_key("fig10")
    True
    """
    return re.sub(r"\d+", lambda match: match.group().zfill(6), word)


def task_context(paper: Paper, entry: Entry) -> dict[str, Any]:
    """Return what `task.html.j2` shows for one item: its runs, best profile first."""
    return {
        "root": UP,
        "paper": paper.meta,
        "entry": entry,
        "file": entry.source or entry.item.file,
        "source": f"{UP}{TOP}{entry.source}" if entry.source else "",
        "paper_page": f"{UP}{TOP}{page_of(paper.meta.id)}",
        "answers": [told.text for told in headlines(paper) if told.entry is entry],
        "neighbours": _neighbours(paper, entry),
    }


def _neighbours(paper: Paper, entry: Entry) -> list[tuple[str, str, str]]:
    """Return the items before and after that have pages: `prev` or `next`, address and id."""
    found = []
    for before, after in pairwise(each for each in paper.entries if each.page):
        if after is entry:
            found.append(("prev", UP + before.page, before.id))
        if before is entry:
            found.append(("next", UP + after.page, after.id))
    return found


def commands(entry: Entry, run: Run) -> list[str]:
    """Return what makes a task's result, its figure and its table again."""
    lines = [f"repro run {entry.id} --profile {run.profile}"]
    if entry.task is not None and entry.task.figure is not None:
        lines.append(f"repro plot {entry.id} --profile {run.profile} --format pdf")
    return [*lines, f"repro table {entry.id} --profile {run.profile} --format latex"]


def groups(
    heads: Sequence[Head], cells: Sequence[Sequence[str]] = ()
) -> list[tuple[str, list[tuple[str, Sequence[str]]]]]:
    """Return neighbours of one group together: each head's text, with its row's cells."""
    rows = zip(heads, cells or [()] * len(heads), strict=True)
    return [
        (group, [(head.text, texts) for head, texts in run])
        for group, run in groupby(rows, key=lambda row: row[0].group)
    ]


def origin(source: ProvenanceMeta) -> list[tuple[str, list[str]]]:
    """Return the provenance as names with their lines, in a fixed order."""
    dirty = " with uncommitted changes" if source.dirty else ""
    data = [
        f"{name}: {', '.join(f'{key} {value[:16]}' for key, value in sorted(facts.items()))}"
        for name, facts in sorted(source.data.items())
    ]
    versions = sorted(source.versions.items())
    rows = [
        ("commit, as recorded", [f"{commit[:12]}{dirty}" for commit in source.commits]),
        ("machine", [_facts(machine) for machine in source.machines]),
        ("versions", [", ".join(f"{name} {' and '.join(v)}" for name, v in versions)]),
        ("data", data),
        ("seeds", [", ".join(str(seed) for seed in source.seeds)]),
        ("kernels", [f"{name} by {' and '.join(by)}" for name, by in source.choices.items()]),
        ("overrides", [f"{name} = {value}" for name, value in sorted(source.overrides.items())]),
        ("computing time", [duration(source.wall_s)]),
        ("started", [source.started_at]),
        ("last trial started", [source.finished_at]),
    ]
    return [(name, lines) for name, lines in rows if any(lines)]


def _facts(machine: dict[str, Any]) -> str:
    parts = []
    for name, value in machine.items():
        # Versions have a line of their own.
        if value in (None, "", [], {}) or name == "versions":
            continue
        text = value if isinstance(value, (str, int)) else json.dumps(value, sort_keys=True)
        label = name.removesuffix("_bytes").removeprefix("num_").replace("_", " ")
        if name.endswith("_bytes") and isinstance(value, int):
            text = f"{value / 2**30:.1f} GiB"
        parts.append(f"{label} {text}")
    return "; ".join(parts)


SHOWN = {
    "PLUS_MINUS": PLUS_MINUS,
    "NOT_KNOWN": NOT_KNOWN,
    "TOP": TOP,
    **{
        each.__name__: each
        for each in (
            beside_run, commands, counted, folded_head, gaps, groups, in_order, origin,
            print_entry, print_run, headlines, page_of, summary_lines,
        )
    },
}  # fmt: skip
"""What templates ask by its name of what they show."""
