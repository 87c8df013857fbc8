"""A task's page: figure, claims, table beside the paper's, deviations, origin, command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any

from harness.declare.reference import NOT_KNOWN
from harness.publish.check_row import CheckRow
from harness.publish.counts import counted_in_words
from harness.publish.labels import Labels
from harness.publish.power import NeededBy
from harness.publish.report.answers import answer
from harness.publish.report.apart import COMMITTED, Apart
from harness.publish.report.beside import Beside
from harness.publish.report.headlines import headlines
from harness.publish.report.load import Entry, Paper, Run
from harness.publish.report.paper_md import held_in_words, in_order
from harness.publish.report.printed import Head, beside_run, print_entry, print_run
from harness.publish.report.results_md import page_of
from harness.publish.report.text import (
    PLUS_MINUS,
    differences_text,
    duration,
    ended_text,
    interval,
    origin,
    paper_cell,
    seal_note,
    seeds,
    threshold_source,
    verdict_note,
)
from harness.publish.report.units import reading, what_number
from harness.store.meta import ProvenanceMeta

UP = "../../"
"""From a task's page to the top of the site."""


def task_context(paper: Paper, entry: Entry, apart: Apart = COMMITTED) -> dict[str, Any]:
    """Return what `task.html.j2` shows for one item: its runs, best profile first."""
    task, page = entry.task, apart.linked(page_of(paper.meta.id))
    return {
        "root": UP,
        "apart": apart,
        "paper": paper.meta,
        "id": entry.id,
        "title": entry.title,
        "seed": entry.seed,
        "file": entry.source or entry.item.file,
        "source": f"{UP}{apart.top}{entry.source}" if entry.source else "",
        "paper_page": f"{UP}{page}" if page else "",
        "answers": _answers(paper, entry),
        "neighbours": _neighbours(paper, entry),
        "state": entry.state,
        "caption": task.caption if task else "",
        "alt": task.alt if task else "",
        "runs": [_run(entry, run, apart.options) for run in entry.runs],
        "paper_alone": _printed(entry, None),
        "not_run": _claims(entry, entry.not_run, entry.to_run, {}),
        "not_known": NOT_KNOWN,
        "has_paper": task is None or task.has_paper,
        "plus_minus": PLUS_MINUS,
    }


def _answers(paper: Paper, entry: Entry) -> list[str]:
    """Return what came out of an item in a sentence, and its headlines that this does not hold."""
    told = headlines(paper)
    first = answer(entry, told)
    mine = [each.text for each in told if each.entry is entry]
    beside = [text for text in mine if text.removesuffix(".") not in first]
    return [first, *beside] if first else beside


def _run(entry: Entry, run: Run, options: str) -> dict[str, Any]:
    stem = f"{entry.id}.{run.profile}"
    content = beside_run(entry, run)
    return {
        "profile": run.profile,
        "smoke": run.profile == "smoke",
        "problem": run.problem,
        "figure": f"figures/{stem}.svg" if run.figure is not None else "",
        "csv": f"data/{stem}.csv" if run.table is not None else "",
        "claims": _claims(entry, run.rows, run.labels, run.needed),
        "counts": counted_in_words(run.rows),
        "table": _table(content) if content is not None else None,
        "printed": _printed(entry, run),
        "deviations": run.deviations,
        "origin": _origin(run.meta.provenance) if run.meta else [],
        "trials": _trials(run),
        "gaps": run.meta.not_run if run.meta else [],
        "commands": [f"{line}{options}" for line in _commands(entry, run)],
        "needs": _needs(run),
    }


def _neighbours(paper: Paper, entry: Entry) -> list[tuple[str, str, str]]:
    """Return the items before and after that have pages: `prev` or `next`, address and id."""
    pages = [each for each in paper.entries if each.page]
    found = []
    for before, after in pairwise(pages):
        if after is entry:
            found.append(("prev", UP + before.page, before.id))
        if before is entry:
            found.append(("next", UP + after.page, after.id))
    return found


def _commands(entry: Entry, run: Run) -> list[str]:
    lines = [f"repro run {entry.id} --profile {run.profile}"]
    if entry.task is not None and entry.task.figure is not None:
        lines.append(f"repro plot {entry.id} --profile {run.profile} --format pdf")
    return [*lines, f"repro table {entry.id} --profile {run.profile} --format latex"]


def _needs(run: Run) -> str:
    """Say what `repro run` takes: the time that its trials took, and data from elsewhere."""
    if run.meta is None:
        return ""
    source = run.meta.provenance
    staged = [f"`{name}`" for name, facts in source.data.items() if facts["variant"] == "staged"]
    told = [
        f"Its trials took {duration(source.wall_s)} of computing time, added up; those that are"
        " stored are not run again."
    ]
    if staged:
        told.append(
            f"They read {' and '.join(sorted(staged))}: set `REPRO_DATA` to a folder that holds"
            " them; `repro data list` says what they are."
        )
    return " ".join([*told, "Plots and tables need only what is stored."])


def _claims(
    entry: Entry, rows: Sequence[CheckRow], labels: Labels, needed: NeededBy
) -> dict[str, Any]:
    """Return the claims as a page shows them, and the checks that it folds away."""
    shown, held = in_order(rows)
    return {
        "shown": [_claim(entry, row, labels, needed) for row in shown],
        "held": [_claim(entry, row, labels, needed) for row in held],
        "held_in_words": held_in_words(held),
    }


def _claim(entry: Entry, row: CheckRow, labels: Labels, needed: NeededBy) -> dict[str, Any]:
    assert entry.task is not None
    claim = next(claim for claim in entry.task.claims if claim.id == row.claim)
    read = reading(row, claim.criterion.unit, claim.criterion.tolerance)
    row = read.row
    return {
        "statement": labels.statement(claim),
        "where": claim.where,
        "kind": ", ".join(filter(None, [_kind(row), row.by_construction])),
        "verdict": row.verdict,
        "reason": verdict_note(row, needed),
        "measured": read.ours,
        "what_number": what_number(row, claim.criterion),
        "interval": interval(row),
        "seeds": seeds(row) if row.measured is not None else "",
        "threshold": read.asked,
        "threshold_from": threshold_source(claim),
        "paper": paper_cell(claim, row, has_paper=entry.task.has_paper),
        "paper_has_number": row.paper_value is not None,
        "anchor": claim.id if row.decides else f"{claim.id}-{row.cohort}",
        "seal": row.seal,
        "seal_note": seal_note(replace(row, differences=())),
        "differences": differences_text(row),
    }


def _kind(row: CheckRow) -> str:
    if row.kind == "half":
        return f"half of {row.half_of}, which decides"
    return "question of our own" if row.kind == "own" else row.kind


def _table(content: Beside) -> dict[str, Any]:
    shown = content.in_paper
    columns = list(zip(content.values, shown, strict=True))
    return {
        "keys": content.keys,
        "seeded": content.seeded,
        "columns": columns,
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


def _printed(entry: Entry, run: Run | None) -> dict[str, Any] | None:
    """Return the tables as they are printed: heads in groups, and the cells under them.

    run: None where there is none, so that the paper's values stand alone.
    """
    content = print_run(entry, run) if run is not None else print_entry(entry)
    if content is None:
        return None
    tables = [
        {
            "title": table.title,
            "groups": _runs(table.columns),
            "heads": [head.text for head in table.columns],
            "parts": _runs(table.rows, table.texts()),
            "notes": table.notes,
        }
        for table in content.tables
    ]
    return {"tables": tables, "others": content.others}


def _runs(
    heads: Sequence[Head], cells: Sequence[Sequence[str]] = ()
) -> list[tuple[str, list[tuple[str, Sequence[str]]]]]:
    """Return neighbours of one group together: each head's text, with its row's cells."""
    rows = zip(heads, cells or [()] * len(heads), strict=True)
    return [
        (group, [(head.text, texts) for head, texts in run])
        for group, run in groupby(rows, key=lambda row: row[0].group)
    ]


def _trials(run: Run) -> str:
    if run.meta is None:
        return ""
    return f"{ended_text(run.meta.trials.model_dump(), run.sources)}; {origin(run.sources)}"


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
        ("code digests", [digest[:12] for digest in source.code]),
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
