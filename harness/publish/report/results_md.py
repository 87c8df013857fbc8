"""RESULTS.md: every paper on one page, and where to read on."""

from __future__ import annotations

from collections.abc import Sequence

from harness.declare.verdict import Word
from harness.measure.goals import Baseline
from harness.publish.counts import CLAIMS, MARKS, verdict_counts
from harness.publish.report.claim_line import ClaimLine
from harness.publish.report.goals_md import goals_line
from harness.publish.report.load import Paper
from harness.publish.report.paper_md import anchor, headline_lines, summary_lines
from harness.publish.report.text import markdown_cell, markdown_table, with_minus
from harness.store.workspace import COMMITTED_PROFILES

HEAD = """# Results

`repro report` writes this page from what is committed; do not edit it.

A claim is a statement of the paper. Its verdict at a scale comes from the 95 % interval over seeds:
✔ supported (the interval lies inside what the claim asks), ✘ contradicted (it lies outside, and a
positive control shows that this setting could have shown the claim), ? undecided, \u2013 untested.
A check says that our code is right; it holds or fails. *Exploratory* marks a verdict whose claim
was not written into the records before the trials ran. What follows ± is half of the interval.
[docs/verdicts.md](docs/verdicts.md) explains the words.
"""
MOST_TOLD = 6
"""Undecided claims of a paper that are written out here."""


def results_markdown(papers: Sequence[Paper], baselines: Sequence[Baseline]) -> str:
    """Return RESULTS.md: per paper its counts, and the claims that are not supported.

    Equal data give equal bytes: nothing here depends on when or where it is written.
    """
    parts = [HEAD, papers_table(papers) + "\n"]
    for paper in papers:
        parts += _paper(paper)
    parts += ["## Not run\n", _not_run(papers), "## Performance goals\n", goals_line(baselines)]
    return with_minus("\n".join(parts))


def papers_table(papers: Sequence[Paper]) -> str:
    """Return the claims of each paper by verdict, a line per scale at which any was run."""
    rows = []
    for paper in papers:
        for profile in paper.profiles:
            counts = verdict_counts(paper.of(profile), "claim")
            if counts:
                told = [str(counts.get(word, 0)) for word in CLAIMS]
                rows.append([_named(paper), f"`{profile}`", *told])
    heads = [f"{MARKS[word]} {word.lower()}" for word in CLAIMS]
    return markdown_table(["paper", "scale", *heads], rows)


def _named(paper: Paper) -> str:
    """Return a paper by what it is known as, with links to what was found and to the paper."""
    meta = paper.meta
    name = f"[{markdown_cell(meta.known_as or meta.title)}]({page_of(meta.id)})"
    return f"{name}, [arXiv](https://arxiv.org/abs/{meta.arxiv})" if meta.arxiv else name


def found_block(papers: Sequence[Paper]) -> str:
    """Return what the checkout's README says was found: a line per headline."""
    lines = [line for p in papers for line in headline_lines(p, f"{page_of(p.meta.id)}#")]
    return with_minus("".join(lines))


def page_of(paper: str) -> str:
    """Return where a paper's page lies, from the top of the checkout."""
    return f"results/{paper}/README.md"


def _paper(paper: Paper) -> list[str]:
    """Return a paper's section: where its page is, what it came to, and what is not supported."""
    page = page_of(paper.meta.id)
    parts = [f"## {markdown_cell(paper.meta.title)}\n"]
    parts += [f"Broken: {markdown_cell(paper.problem)}.\n"] if paper.problem else []
    parts += headline_lines(paper, f"{page}#")
    parts += [f"{line}\n" for line in summary_lines(paper)]
    parts.append(f"Every claim, table and deviation: [its page]({page}).\n")
    parts += _claims(paper, Word.CONTRADICTED, "Contradicted")
    parts += _claims(paper, Word.UNDECIDED, "Undecided")
    return parts


def _claims(paper: Paper, word: Word, head: str) -> list[str]:
    """Return the claims of one verdict, those first that fewest seeds would decide."""
    found = [
        (row, entry)
        for entry in paper.entries
        for row in entry.rows
        if row.kind == "claim" and row.verdict == word
    ]
    found.sort(key=lambda pair: pair[0].seeds_to_decide or 10**6)
    lines = [
        f"- {markdown_cell(ClaimLine(row).whole)} [{entry.item.id}]({page_of(paper.meta.id)}"
        f"#{anchor(entry)})"
        for row, entry in found[:MOST_TOLD]
    ]
    more = len(found) - len(lines)
    lines += [f"- and {more} more on its page."] if more else []
    return [f"{head}:\n", "\n".join(lines) + "\n"] if lines else []


def _not_run(papers: Sequence[Paper]) -> str:
    present = {profile for paper in papers for profile in paper.profiles}
    lines = [f"- Nothing is committed at `{p}`." for p in COMMITTED_PROFILES if p not in present]
    lines += [
        f"- {entry.id}: {markdown_cell(entry.state)}"
        for paper in papers
        for entry in paper.entries
        if entry.state and (entry.task or entry.broken)
    ]
    return "\n".join(lines) + "\n"
