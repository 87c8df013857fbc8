"""A task's page: figure, claims, table beside the paper's, deviations, origin, command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from harness.declare.claims import Claim
from harness.declare.reference import NOT_PUBLISHED
from harness.publish.check_row import CheckRow
from harness.publish.labels import Labels
from harness.publish.report.beside import Beside, beside
from harness.publish.report.load import Entry, Paper, Run
from harness.publish.report.printed import Head, print_entry, print_run
from harness.publish.report.text import (
    PLUS_MINUS,
    chance_note,
    duration,
    interval,
    number,
    origin,
    paper_cell,
    seal_note,
    seeds,
    threshold,
    threshold_source,
)
from harness.store.meta import ProvenanceMeta


def task_context(paper: Paper, entry: Entry) -> dict[str, Any]:
    """Return what `task.html.j2` shows for one item: its runs, best profile first."""
    task = entry.task
    return {
        "root": "../../",
        "paper": paper.meta,
        "id": entry.id,
        "title": entry.title,
        "seed": entry.seed,
        "file": entry.item.file,
        "state": entry.state,
        "caption": task.caption if task else "",
        "alt": task.alt if task else "",
        "runs": [_run(entry, run) for run in entry.runs],
        "paper_alone": _printed(entry, None),
        "not_run": [_claim(_claim_of(entry, row), row, entry.to_run) for row in entry.not_run],
        "not_published": NOT_PUBLISHED,
        "plus_minus": PLUS_MINUS,
    }


def _run(entry: Entry, run: Run) -> dict[str, Any]:
    stem = f"{entry.id}.{run.profile}"
    content = None
    if entry.task is not None and run.table is not None and entry.reference is not None:
        content = beside(entry.task.table, run.table, entry.reference)
    return {
        "profile": run.profile,
        "smoke": run.profile == "smoke",
        "problem": run.problem,
        "figure": f"figures/{stem}.svg" if run.figure is not None else "",
        "csv": f"data/{stem}.csv" if run.table is not None else "",
        "claims": [_claim(_claim_of(entry, row), row, run.labels) for row in run.rows],
        "table": _table(content) if content is not None else None,
        "printed": _printed(entry, run),
        "deviations": run.deviations,
        "origin": _origin(run.meta.provenance) if run.meta else [],
        "trials": _trials(run),
        "gaps": run.meta.not_run if run.meta else [],
        "commands": _commands(entry, run),
    }


def _commands(entry: Entry, run: Run) -> list[str]:
    lines = [f"repro run {entry.id} --profile {run.profile}"]
    if entry.task is not None and entry.task.figure is not None:
        lines.append(f"repro plot {entry.id} --profile {run.profile} --format pdf")
    return [*lines, f"repro table {entry.id} --profile {run.profile} --format latex"]


def _claim_of(entry: Entry, row: CheckRow) -> Claim:
    claims = entry.task.claims if entry.task else ()
    return next(claim for claim in claims if claim.id == row.claim)


def _claim(claim: Claim, row: CheckRow, labels: Labels) -> dict[str, str]:
    unit = f" {claim.criterion.unit}" if claim.criterion.unit else ""
    return {
        "statement": labels.statement(claim),
        "where": claim.where,
        "kind": "question of our own" if row.kind == "own" else row.kind,
        "verdict": row.verdict,
        "reason": "; ".join(note for note in (row.reason, chance_note(row)) if note),
        "measured": f"{number(row.measured)}{unit}" if row.measured is not None else "",
        "deciding": row.deciding,
        "interval": interval(row),
        "seeds": seeds(row) if row.measured is not None else "",
        "threshold": threshold(row.form, row.threshold, tolerance=claim.criterion.tolerance),
        "threshold_from": threshold_source(claim),
        "paper": paper_cell(claim, row),
        "anchor": claim.id if row.decides else f"{claim.id}-{row.cohort}",
        "seal": row.seal,
        "seal_note": seal_note(row),
    }


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
    counts = run.meta.trials.model_dump()
    ended = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return f"{ended}; {origin(run.sources)}"


def _origin(source: ProvenanceMeta) -> list[tuple[str, list[str]]]:
    """Return the provenance as names with their lines, in a fixed order."""
    dirty = " with uncommitted changes" if source.dirty else ""
    data = [
        f"{name}: {', '.join(f'{key} {value[:16]}' for key, value in sorted(facts.items()))}"
        for name, facts in sorted(source.data.items())
    ]
    versions = sorted(source.versions.items())
    rows = [
        ("commit", [f"{commit[:12]}{dirty}" for commit in source.commits]),
        ("machine", [_facts(machine) for machine in source.machines]),
        ("versions", [", ".join(f"{name} {' and '.join(v)}" for name, v in versions)]),
        ("data", data),
        ("seeds", [", ".join(str(seed) for seed in source.seeds)]),
        ("code digests", [digest[:12] for digest in source.code]),
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
