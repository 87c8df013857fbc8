"""RESULTS.md: every paper on one page, and where to read on."""

from __future__ import annotations

from collections.abc import Sequence

from harness.declare.verdict import Word
from harness.measure.goals import Baseline, Measured, machine_title
from harness.publish.counts import verdict_counts
from harness.publish.report.headlines import DECIDED, Told, headlines
from harness.publish.report.load import Paper
from harness.publish.report.paper_md import (
    VERDICTS,
    anchor,
    counted,
    counts_lines,
    headline_lines,
    item_rows,
    lost,
)
from harness.publish.report.text import (
    markdown_cell,
    markdown_table,
    number,
    origin,
    waiting_text,
)
from harness.store.workspace import COMMITTED_PROFILES

HEAD = """# Results

`repro report` writes this page from the committed profiles; do not edit it.

A check is an exact statement, which `HOLDS` or `FAILS`: it says that our code is right, nothing of
what the paper found. A claim of a paper gets a verdict in each profile where its task was run, by
the 95 % interval over seeds against the threshold: reproduced, not, or undecided; "out of scale" is
what this scale can never decide. Counts give the checks, the claims, and apart from them halves of
claims that are an either-or, and the questions of our own, which no paper asks. What chance alone
would give, how a claim stands to its seal, and each word is told in
[docs/verdicts.md](docs/verdicts.md).
"""


def results_markdown(papers: Sequence[Paper], baselines: Sequence[Baseline]) -> str:
    """Return RESULTS.md: per paper its counts, a line per item, and what did not hold.

    Equal data give equal bytes: nothing here depends on when or where it is written.
    """
    parts = [HEAD, "## Overview\n", *counts_lines(papers)]
    for paper in papers:
        parts += _paper(paper)
    parts += ["## Not run\n", _not_run(papers), "## Performance goals\n", _goals(baselines)]
    return "\n".join(parts)


def papers_block(papers: Sequence[Paper]) -> str:
    """Return what stands between the markers of the checkout's README: a line per paper.

    A paper has one where it has a headline: how many claims held, did not or are undecided, each
    number with the headlines that say so.
    """
    rows = []
    for paper in papers:
        told = headlines(paper)
        if told:
            meta, page = paper.meta, page_of(paper.meta.id)
            cells = [_answered(paper, told, word) for word in DECIDED]
            rows.append(
                [f"**{markdown_cell(meta.title)}**<br>`{meta.id}`, [all of it]({page})", *cells]
            )
    table = markdown_table(["paper", *DECIDED.values()], rows)
    origins = "\n".join(
        f"- {paper.meta.id} at `{profile}`: {origin(sources)}."
        for paper in papers
        for profile, sources in counted(paper)
    )
    summary = "What the counts rest on: chance, seals, older code; and what is out of scale"
    folded = "\n".join([*counts_lines(papers), origins])
    return f"{table}\n\n<details><summary>{summary}</summary>\n\n{folded}\n\n</details>"


def _answered(paper: Paper, told: Sequence[Told], word: Word) -> str:
    """Return how many claims of a paper have a verdict, by profile, and its headlines of it."""
    rows = {profile: paper.rows(profile) for profile, _ in counted(paper)}
    counts = [f"{verdict_counts(r, 'claim').get(word, 0)} at `{p}`" for p, r in rows.items()]
    texts = [markdown_cell(each.text) for each in told if each.row.verdict == word]
    return "<br>".join([", ".join(counts), *texts])


def page_of(paper: str) -> str:
    """Return where a paper's page lies, from the top of the checkout."""
    return f"results/{paper}/README.md"


def _paper(paper: Paper) -> list[str]:
    """Return a paper's section: where its page is, its items, and what did not hold."""
    page = page_of(paper.meta.id)
    parts = [f"## {markdown_cell(paper.meta.title)}\n"]
    parts += [f"Broken: {markdown_cell(paper.problem)}.\n"] if paper.problem else []
    parts += headline_lines(paper, f"{page}#")
    parts += [f"At `{p}`, {origin(sources)}.\n" for p, sources in counted(paper)]
    parts.append(f"Every claim, table and deviation: [{page}]({page}).\n")
    rows = [
        row
        for e in paper.entries
        for row in item_rows(e, f"[{e.id}]({page}#{anchor(e)})", chance=False)
    ]
    parts.append(markdown_table(VERDICTS, rows) + "\n")
    lines = [line for e in paper.entries for run in e.runs for line in lost(e, run, "claim")]
    return [*parts, "Claims that did not hold:\n", "\n".join(lines) + "\n"] if lines else parts


def _not_run(papers: Sequence[Paper]) -> str:
    entries = [entry for paper in papers for entry in paper.entries]
    present = {run.profile for entry in entries for run in entry.runs}
    absent = [profile for profile in COMMITTED_PROFILES if profile not in present]
    lines = [f"- Profile `{profile}`: nothing is committed." for profile in absent]
    lines += [f"- {text}" for text in filter(None, [waiting_text(papers)])]
    lines += ["- What each item lacks stands at the end of its paper's page."]
    return "\n".join(lines) + "\n"


def _goals(baselines: Sequence[Baseline]) -> str:
    if not baselines:
        return "No benchmark is committed.\n"
    header = ["benchmark", "goal", "measured", "met", "load average", "cores of others", "setting"]
    parts = []
    for title, cells in goal_tables(baselines):
        rows = [[markdown_cell(cell) for cell in row] for row in cells]
        parts.append(f"{title}:\n\n{markdown_table(header, rows)}\n")
    return "\n".join(parts)


def goal_tables(baselines: Sequence[Baseline]) -> list[tuple[str, list[list[str]]]]:
    """Return titles and cells of what each machine measured, and of sums over records apart."""
    tables = []
    for baseline in baselines:
        items, machine = list(baseline.measured().values()), machine_title(baseline.machine)
        for from_records, title in (
            (False, f"Measured on {machine}"),
            (True, f"Added up from committed records, by {machine}"),
        ):
            cells = [goal_cells(item) for item in items if item.from_records is from_records]
            tables += [(title, cells)] if cells else []
    return tables


def goal_cells(item: Measured) -> list[str]:
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
