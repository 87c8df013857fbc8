"""RESULTS.md and the verdict block of a paper's README: from loaded data to text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.declare.claims import Claim
from harness.declare.papers import Deviation
from harness.declare.profiles import Profile
from harness.declare.verdict import Word
from harness.measure.bench import BenchmarkResult
from harness.publish.check_row import CheckRow, Kind
from harness.publish.counts import counted_in_words, seals_text
from harness.publish.labels import Labels
from harness.publish.report.beside import beside
from harness.publish.report.load import Entry, Paper, Run, Sources
from harness.publish.report.paper_table import grid
from harness.publish.report.printed import print_entry, print_run
from harness.publish.report.table_text import as_markdown
from harness.publish.report.text import (
    chance_note,
    interval,
    markdown_cell,
    markdown_table,
    number,
    origin,
    paper_cell,
    seal_note,
    seeds,
    threshold,
    threshold_source,
    waiting_text,
)
from harness.store.workspace import COMMITTED_PROFILES

NOTHING = "no claims"
VERDICTS = ("item", "title", "profile", "verdicts")

HEAD = """# Results

`repro report` writes this page from the committed profiles; do not edit it.

A check is an exact statement, which `HOLDS` or `FAILS`: it says that our code is right, nothing of
what the paper found. Every claim of a paper gets a verdict in each profile where its task was run.
`REPRODUCED`, `NOT_REPRODUCED` and `INCONCLUSIVE` are decided by the 95 % interval over seeds
against the threshold; `OUT_OF_PROFILE` means that this scale can never decide the claim, `NOT_RUN`
that something was lacking, `ERROR` that the evaluation failed. "Ours" is the mean over seeds; of
several numbers it is the one that decides, which is named. A number that comes from an early
version of the paper, or from a third party, says so.

Counts give the checks, the claims of the paper, and apart from them halves of claims that are an
either-or, judged within the whole claim, and the questions of our own, which no paper asks: "yes"
and "no" are then `REPRODUCED` and `NOT_REPRODUCED`. "Not" is `NOT_REPRODUCED`, "undecided"
`INCONCLUSIVE`, "out of scale" `OUT_OF_PROFILE`; what was not run is counted, too. Behind the claims
that were reproduced stands for how many chance alone would give `REPRODUCED`, were there no effect,
and in what share of relabellings at most (weak: above one in ten), how many have too few seeds to
exclude chance, and how many no relabelling can test: an equivalence, which claims no effect; one
number with nothing to compare; levels that are unlike or share a part, so that labels cannot
change places. How many of all of them are set by construction or nearly so, as by the method's own
rule, stands last. A seal says how a claim stands to what its records took of it before their
trials: `sealed`, nothing differs; `restated`, its code or words differ, and what it
asks and measures does not; `changed`, `late` or `renewed`, it was changed, added or sealed anew
after trials had run.
"""


def results_markdown(papers: Sequence[Paper], benchmarks: Sequence[BenchmarkResult]) -> str:
    """Return RESULTS.md: every item of every paper, every verdict, every goal.

    Equal data give equal bytes: nothing here depends on when or where it is written.
    """
    parts = [HEAD, "## Overview\n", *_counts(papers), _overview(papers)]
    for paper in papers:
        meta = paper.meta
        parts.append(f"## {markdown_cell(meta.title)}\n")
        ids = f"{meta.venue}, arXiv {meta.arxiv}" if meta.arxiv else meta.venue
        names = ", ".join(meta.authors)
        told = (
            [f"Broken: {paper.problem}"]
            if paper.problem
            else [text for text in (names, ids) if text]
        )
        if told:
            parts.append(". ".join(map(markdown_cell, told)) + ".\n")
        parts += [f"At `{p}`, {origin(s)}.\n" for p, s in _counted(paper)]
        parts += [_entry(entry) for entry in paper.entries]
        parts += [*_deviations(paper), *_withdrawn(paper)]
    parts += ["## Not run\n", _not_run(papers), "## Performance goals\n", _goals(benchmarks)]
    return "\n".join(parts)


def _counts(papers: Sequence[Paper]) -> list[str]:
    """Return per paper and profile what was found, and on what seals that rests."""
    lines = []
    for paper in papers:
        for profile in dict.fromkeys(run.profile for e in paper.entries for run in e.runs):
            told = [f"{paper.meta.id} at `{profile}`: {counted_in_words(paper.rows(profile))}"]
            lines.append(
                "- " + "; ".join([*told, *filter(None, [seals_text(paper.rows(profile))])])
            )
    return ["\n".join(lines) + "\n"] if lines else []


def _counted(paper: Paper) -> list[tuple[Profile, Sources]]:
    return [(profile, s) for profile, s in paper.sources.items() if s.num_trials]


def _deviations(paper: Paper) -> list[str]:
    """Return each deviation that a run of the paper has, its text once."""
    found = {d.id: d for entry in paper.entries for run in entry.runs for d in run.deviations}
    lines = [
        f'- <a id="{_deviation_anchor(paper.meta.id, item)}"></a>{item.id},'
        f" {markdown_cell(item.what)}. The paper: {markdown_cell(item.paper)}"
        f" Ours: {markdown_cell(item.ours)} Expected effect: {markdown_cell(item.effect)}"
        for _, item in sorted(found.items())
    ]
    return ["### Deviations\n", "\n".join(lines) + "\n"] if lines else []


def _deviation_anchor(paper: str, deviation: Deviation) -> str:
    return f"{paper}-{deviation.id.lower()}"


def _withdrawn(paper: Paper) -> list[str]:
    """Return the claims that were sealed once and are gone, with the reason."""
    if not paper.withdrawn:
        return []
    lines = [
        f"- {row.task} `{row.claim}` at `{row.profile}`: {markdown_cell(row.reason)}"
        for row in paper.withdrawn
    ]
    return ["### Withdrawn claims\n", "\n".join(lines) + "\n"]


def _overview(papers: Sequence[Paper]) -> str:
    entries = [entry for paper in papers for entry in paper.entries]
    rows = [row for e in entries for row in _verdicts(e, f"[{e.id}](#{_anchor(e)})")]
    return markdown_table(VERDICTS, rows) + "\n"


def _verdicts(entry: Entry, name: str) -> list[list[str]]:
    """Return a line per profile of an item: its name, title, profile and counts."""
    title = markdown_cell(entry.title)
    if entry.runs:
        return [[name, title, r.profile, counted_in_words(r.rows) or NOTHING] for r in entry.runs]
    absent = f"; at `cpu`: {counted_in_words(entry.not_run)}" if entry.not_run else ""
    return [[name, title, "", markdown_cell(entry.state) + absent]]


def _anchor(entry: Entry) -> str:
    return entry.id.replace("/", "-")


def _entry(entry: Entry) -> str:
    head = f'<a id="{_anchor(entry)}"></a>\n\n### {entry.id}: {markdown_cell(entry.title)}\n'
    if entry.state or entry.task is None:
        parts = [head, _sentence(entry.state)]
        parts += [_claims(entry, entry.not_run, entry.to_run)] if entry.not_run else []
        alone = print_entry(entry)
        parts += [as_markdown(alone, listed=False)] if alone is not None else []
        return "\n".join(parts)
    return "\n".join([head, *(_run(entry, run) for run in entry.runs)])


def _sentence(text: str) -> str:
    plain = markdown_cell(text)
    return f"{plain[:1].upper()}{plain[1:].rstrip('.')}.\n"


def _run(entry: Entry, run: Run) -> str:
    parts = [f"Profile `{run.profile}`: {_sources(entry, run)}.\n"]
    if run.problem:
        parts.append(_sentence(f"The stored result cannot be used: {run.problem}"))
    parts.append(_claims(entry, run.rows, run.labels) if run.rows else "It declares no claims.\n")
    parts += [f"A seed is {entry.seed}\n"] if entry.seed else []
    parts += _meeting(entry, run)
    if run.deviations:
        links = [f"[{d.id}](#{_deviation_anchor(entry.paper, d)})" for d in run.deviations]
        parts.append(f"Deviations from the paper: {', '.join(links)}.\n")
    return "\n".join(parts)


def _sources(entry: Entry, run: Run) -> str:
    """Say how many trials stand behind a run, and link its files."""
    base = f"{entry.id}.{run.profile}"
    links = [f"[table](results/{base}.csv)", f"[origin](results/{base}.json)"]
    links += [f"[figure](figures/{base}.svg)"] if run.figure is not None else []
    if run.meta is None:
        return ", ".join(links)
    counts = run.meta.trials.model_dump()
    trials = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return f"trials {trials}; {origin(run.sources)}; {', '.join(links)}"


def _claims(entry: Entry, rows: Sequence[CheckRow], labels: Labels) -> str:
    by_id = {claim.id: claim for claim in entry.task.claims} if entry.task else {}
    header = ["claim", "grade", "verdict", "ours", "95 % interval", "seeds", "asked", "paper"]
    body = [_claim_row(by_id[row.claim], row, labels) for row in rows]
    return markdown_table([*header, "seal"], body) + "\n"


def _claim_row(claim: Claim, row: CheckRow, labels: Labels) -> list[str]:
    unit = f" {claim.criterion.unit}" if claim.criterion.unit and row.measured is not None else ""
    told = "; ".join(note for note in (row.reason, chance_note(row)) if note)
    verdict = f"{row.verdict}: {told}" if told else row.verdict
    asked = threshold(row.form, row.threshold, tolerance=claim.criterion.tolerance)
    cells = [
        labels.statement(claim),
        ", ".join(filter(None, [row.grade, _counted_as(row), row.by_construction])),
        verdict,
        f"{number(row.measured)}{unit}{f' ({row.deciding})' if row.deciding else ''}",
        interval(row),
        seeds(row) if row.measured is not None else "",
        f"{asked} ({threshold_source(claim)})",
        paper_cell(claim, row),
        seal_note(row) if row.seal != "none" else "",
    ]
    return [markdown_cell(cell) for cell in cells]


def _counted_as(row: CheckRow) -> str:
    """Say what keeps an empirical statement out of the paper's claims, nothing where it is one."""
    return "ours" if row.own_question else f"half of `{row.half_of}`" if row.half_of else ""


def _meeting(entry: Entry, run: Run) -> list[str]:
    """Return the table as it is printed, or else the lines of it that meet a value of the paper."""
    printed = print_run(entry, run)
    if printed is not None:
        return [as_markdown(printed, listed=False)]
    if run.table is None or entry.task is None or entry.reference is None:
        return []
    content = beside(entry.task.table, run.table, entry.reference, run.labels)
    header, rows = grid(content)
    kept = [
        [markdown_cell(cell) for cell in row]
        for line, row in zip(content.lines, rows, strict=True)
        if any(line.papers)
    ]
    if not kept:
        return []
    names = [markdown_cell(name) for name in header]
    return ["Where our table meets published values:\n", markdown_table(names, kept) + "\n"]


def _not_run(papers: Sequence[Paper]) -> str:
    entries = [entry for paper in papers for entry in paper.entries]
    present = {run.profile for entry in entries for run in entry.runs}
    absent = [profile for profile in COMMITTED_PROFILES if profile not in present]
    lines = [f"- Profile `{profile}`: nothing is committed." for profile in absent]
    lines += [f"- {text}" for text in filter(None, [waiting_text(papers)])]
    for entry in entries:
        if entry.state:
            lines.append(f"- {entry.id}: {markdown_cell(entry.state)}")
        for run in entry.runs:
            lines += [f"- {entry.id} at `{run.profile}`, {text}" for text in _gaps(run)]
    return "\n".join(lines or ["Everything was run."]) + "\n"


def _gaps(run: Run) -> Iterable[str]:
    for row in run.rows:
        if row.verdict == Word.NOT_RUN and row.decides:
            yield f"claim {row.claim}: {markdown_cell(row.reason)}"
    by_reason: dict[str, list[str]] = {}
    for gap in run.meta.not_run if run.meta is not None else []:
        by_reason.setdefault(gap.reason, []).append(gap.trial)
    for reason, trials in by_reason.items():
        more = f" and {len(trials) - 1} more" if len(trials) > 1 else ""
        yield f"trial {markdown_cell(trials[0])}{more}: {markdown_cell(reason)}"


def _goals(benchmarks: Sequence[BenchmarkResult]) -> str:
    if not benchmarks:
        return "No benchmark is committed.\n"
    header = ["benchmark", "goal", "measured", "met", "load average", "cores of others", "setting"]
    rows = [[markdown_cell(cell) for cell in goal_cells(item)] for item in benchmarks]
    return markdown_table(header, rows) + "\n"


def goal_cells(item: BenchmarkResult) -> list[str]:
    """Return a benchmark as text: name, goal, measured, met, load, cores of others, setting."""
    goal = item.goal
    unit = "" if goal.unit == "ratio" else f" {goal.unit}"
    return [
        item.name,
        f"{goal.direction.replace('_', ' ')} {number(goal.limit)}{unit}",
        f"{number(item.measured)}{unit}",
        "yes" if item.met else "no",
        number(item.load_average),
        number(item.other_cores),
        item.note,
    ]


def verdict_block(paper: Paper) -> str:
    """Return what stands between the markers of a paper's README.

    What did not hold is written out; the rest is counted, profile by profile.
    """
    runs = [(entry, run) for entry in paper.entries for run in entry.runs]
    lost = [line for entry, run in runs for line in _lost(entry, run, "claim")]
    own = [line for entry, run in runs for line in _lost(entry, run, "own")]
    table = markdown_table(VERDICTS, [row for e in paper.entries for row in _verdicts(e, e.id)])
    found = "\n".join(["What did not hold:", "", *lost]) if lost else "No decided claim failed."
    found += "\n\n" + "\n".join(["Questions of our own, answered no:", "", *own]) if own else ""
    stale = "".join(f"At `{p}`, {origin(s)}.\n" for p, s in _counted(paper))
    stale += "\n" + "\n".join(_counts([paper]))
    return f"{table}\n\n{stale}\n{found}\n"


def _lost(entry: Entry, run: Run, kind: Kind) -> Iterable[str]:
    claims = entry.task.claims if entry.task else ()
    statements = {claim.id: run.labels.statement(claim) for claim in claims}
    for row in run.rows:
        if row.verdict == Word.NOT_REPRODUCED and row.decides and row.kind == kind:
            band = f", 95 % interval {interval(row)}" if interval(row) else ""
            yield (
                f"- {entry.id} at `{run.profile}`: {markdown_cell(statements[row.claim])} Measured"
                f" {number(row.measured)}{band}; asked: {threshold(row.form, row.threshold)}."
            )
