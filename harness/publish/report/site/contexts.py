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
from harness.publish.report.beside import Beside
from harness.publish.report.claim_line import ClaimLine, folded_head, in_order, sentence
from harness.publish.report.goals_md import COLUMNS, goal_tables
from harness.publish.report.headlines import headlines
from harness.publish.report.load import Entry, Paper, Run
from harness.publish.report.paper_md import gaps, summary_lines
from harness.publish.report.printed import Head, beside_run, print_entry, print_run
from harness.publish.report.results_md import page_of
from harness.publish.report.text import PLUS_MINUS, duration
from harness.store.meta import ProvenanceMeta, TrialCounts

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
        "cards": [_card(paper) for paper in papers],
        "buttons": {
            "verdict": [word for word in Word if word in found],
            "paper": list(dict.fromkeys(row["paper"] for row in rows)),
        },
        "any_smoke": any(row["profile"] == "smoke" for row in rows),
        "marks": [(MARKS[word], word.lower()) for word in CLAIMS],
        "goals": goal_tables(baselines),
        "goal_heads": COLUMNS,
    }


def _card(paper: Paper) -> dict[str, Any]:
    is_told = bool(paper.profiles) and not paper.problem
    return {
        "meta": paper.meta,
        "problem": paper.problem,
        "headlines": [told.text for told in headlines(paper)],
        "page": f"{TOP}{page_of(paper.meta.id)}" if is_told else "",
        "counts": summary_lines(paper),
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
    task = entry.task
    return {
        "root": UP,
        "paper": paper.meta,
        "id": entry.id,
        "title": entry.item.title,
        "seed": task.table.seed_doc if task else "",
        "file": entry.source or entry.item.file,
        "source": f"{UP}{TOP}{entry.source}" if entry.source else "",
        "paper_page": f"{UP}{TOP}{page_of(paper.meta.id)}",
        "answers": [told.text for told in headlines(paper) if told.entry is entry],
        "neighbours": _neighbours(paper, entry),
        "state": entry.state,
        "caption": task.caption if task else "",
        "alt": task.alt if task else "",
        "runs": [_run(entry, run) for run in entry.runs],
        "paper_alone": None if entry.runs else _printed(print_entry(entry)),
        "not_run": _claims(entry.not_run),
        "not_known": NOT_KNOWN,
        "plus_minus": PLUS_MINUS,
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


def _run(entry: Entry, run: Run) -> dict[str, Any]:
    stem, printed = f"{entry.id}.{run.profile}", print_run(entry, run)
    # Where the table is printed as the paper has it, all rows of it are in the CSV.
    content = None if printed is not None else beside_run(entry, run)
    return {
        "profile": run.profile,
        "smoke": run.profile == "smoke",
        "problem": run.problem,
        "ran_on": run.ran_on,
        "figure": f"figures/{stem}.svg" if run.figure is not None else "",
        "csv": f"data/{stem}.csv" if run.csv is not None else "",
        "claims": _claims(run.rows),
        "counts": counted(run.rows),
        "table": _table(content) if content is not None else None,
        "printed": _printed(printed),
        "deviations": run.deviations,
        "origin": _origin(run.meta.provenance) if run.meta else [],
        "trials": _ended(run.meta.trials) if run.meta else "",
        "gaps": list(gaps(run)),
        "commands": _commands(entry, run),
    }


def _commands(entry: Entry, run: Run) -> list[str]:
    lines = [f"repro run {entry.id} --profile {run.profile}"]
    if entry.task is not None and entry.task.figure is not None:
        lines.append(f"repro plot {entry.id} --profile {run.profile} --format pdf")
    return [*lines, f"repro table {entry.id} --profile {run.profile} --format latex"]


def _claims(rows: Sequence[Any]) -> dict[str, Any]:
    """Return the claims as a page shows them, and the checks that it folds away."""
    shown, folded = in_order(rows)
    return {
        "shown": [_claim(line) for line in shown],
        "folded": [_claim(line) for line in folded],
        "folded_head": folded_head(folded),
    }


def _claim(line: ClaimLine) -> dict[str, str]:
    return {
        "anchor": line.row.claim,
        "mark": line.mark,
        "verdict": line.row.verdict,
        "statement": line.row.statement,
        "numbers": line.numbers,
        "note": sentence(line.note),
    }


def _table(content: Beside) -> dict[str, Any]:
    shown = content.in_paper
    return {
        "keys": content.keys,
        "seeded": content.seeded,
        "columns": list(zip(content.values, shown, strict=True)),
        "lines": [
            {
                "keys": line.keys,
                "num_seeds": line.num_seeds,
                "cells": list(zip(line.ours, line.papers, shown, strict=True)),
            }
            for line in content.lines
        ],
        "others": content.others,
        "any_paper": any(shown),
    }


def _printed(content: Any) -> dict[str, Any] | None:
    """Return tables as they are printed: heads in groups, and the cells under them."""
    if content is None:
        return None
    tables = [
        {
            "title": table.title,
            "groups": _groups(table.columns),
            "heads": [head.text for head in table.columns],
            "parts": _groups(table.rows, table.texts()),
            "notes": table.notes,
        }
        for table in content.tables
    ]
    return {"tables": tables, "others": content.others}


def _groups(
    heads: Sequence[Head], cells: Sequence[Sequence[str]] = ()
) -> list[tuple[str, list[tuple[str, Sequence[str]]]]]:
    """Return neighbours of one group together: each head's text, with its row's cells."""
    rows = zip(heads, cells or [()] * len(heads), strict=True)
    return [
        (group, [(head.text, texts) for head, texts in run])
        for group, run in groupby(rows, key=lambda row: row[0].group)
    ]


def _ended(trials: TrialCounts) -> str:
    counts = trials.model_dump()
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def _origin(source: ProvenanceMeta) -> list[tuple[str, list[str]]]:
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
