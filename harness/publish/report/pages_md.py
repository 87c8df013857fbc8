"""RESULTS.md, papers' pages and the blocks of READMEs: templates filled from loaded data.

Equal data give equal bytes: nothing here depends on when or where it is written.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from harness.declare.profiles import Profile
from harness.measure.goals import Baseline
from harness.publish.counts import (
    CLAIMS,
    MARKS,
    by_luck,
    counted,
    registered_in_words,
    verdict_counts,
)
from harness.publish.report.claim_line import ClaimLine, folded_head, in_order, sentence
from harness.publish.report.goals_md import goals_line
from harness.publish.report.headlines import headlines
from harness.publish.report.load import Entry, Paper, Run
from harness.publish.report.paper_table import grid
from harness.publish.report.printed import beside_run, print_entry, print_run
from harness.publish.report.table_text import as_markdown
from harness.publish.report.text import markdown_cell, markdown_table, with_minus
from harness.store.workspace import COMMITTED_PROFILES

ROOT = "../.."
"""From a paper's page to the top of the checkout."""
MOST_TOLD = 6
"""Claims of one verdict of a paper that RESULTS.md writes out."""


def paper_markdown(paper: Paper) -> str:
    """Return results/<paper>/README.md: every item of a paper, and every verdict."""
    return _filled("paper.md.j2", paper=paper)


def verdict_block(paper: Paper) -> str:
    """Return what stands between the markers of a paper's README: counts and what is not so."""
    page = f"{ROOT}/{page_of(paper.meta.id)}#"
    return _filled("verdicts.md.j2", paper=paper, page=page)


def results_markdown(papers: Sequence[Paper], baselines: Sequence[Baseline]) -> str:
    """Return RESULTS.md: per paper its counts, and the claims that are not supported."""
    return _filled("results.md.j2", papers=papers, baselines=baselines)


def found_block(papers: Sequence[Paper]) -> str:
    """Return what the checkout's README says was found: a line per headline."""
    return _filled("found.md.j2", papers=papers)


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


def page_of(paper: str) -> str:
    """Return where a paper's page lies, from the top of the checkout."""
    return f"results/{paper}/README.md"


def anchor(entry: Entry) -> str:
    """Return what a link to an item's section on its paper's page ends in."""
    return entry.id.replace("/", "-")


def summary_lines(paper: Paper) -> list[str]:
    """Return what a paper came to in a few sentences: counts, luck, and where trials come from."""
    lines = []
    for profile in paper.profiles:
        rows = paper.of(profile)
        told = [f"At `{profile}`: {counted(rows)}.", by_luck(rows), registered_in_words(rows)]
        lines.append(" ".join(filter(None, [*told, paper.earlier_code(profile)])))
    return [*lines, *([paper.verified] if paper.verified else [])]


def of_word(paper: Paper, word: str) -> list[tuple[ClaimLine, Entry]]:
    """Return the claims of one verdict, those first that fewest seeds would decide."""
    found = [
        (ClaimLine(row), entry)
        for entry in paper.entries
        for row in entry.rows
        if row.kind == "claim" and row.verdict == word
    ]
    return sorted(found, key=lambda pair: pair[0].row.seeds_to_decide or 10**6)


def meeting(entry: Entry, run: Run) -> str:
    """Return the table as it is printed, or else the lines of it that meet a value of the paper."""
    printed = print_run(entry, run)
    if printed is not None:
        return as_markdown(printed, listed=False)
    content = beside_run(entry, run)
    if content is None:
        return ""
    header, rows = grid(content)
    kept = [
        [markdown_cell(cell) for cell in row]
        for line, row in zip(content.lines, rows, strict=True)
        if any(line.papers)
    ]
    names = [markdown_cell(name) for name in header]
    table = markdown_table(names, kept)
    return f"Where our table meets published values:\n\n{table}" if kept else ""


def gaps(run: Run) -> Iterator[str]:
    """Yield the trials of a run that have no result, those of one reason together."""
    by_reason: dict[str, list[str]] = {}
    for gap in run.meta.not_run if run.meta is not None else []:
        by_reason.setdefault(gap.reason, []).append(gap.trial)
    for reason, trials in by_reason.items():
        more = f" and {len(trials) - 1} more" if len(trials) > 1 else ""
        yield f"{trials[0]}{more}: {reason}"


def never_run(papers: Sequence[Paper]) -> list[Profile]:
    """Return the committed profiles in which nothing is stored."""
    present = {profile for paper in papers for profile in paper.profiles}
    return [profile for profile in COMMITTED_PROFILES if profile not in present]


def _filled(name: str, **shown: Any) -> str:
    """Fill a template: blocks of it stand apart by one empty line, however many it has there."""
    text = _environment().get_template(name).render(shown)
    return with_minus(re.sub(r"\n{3,}", "\n\n", text).strip() + "\n")


def templates_of(package: str, **options: Any) -> Environment:
    """Return what fills the templates of a package; a name that is not given is an error."""
    return Environment(
        loader=PackageLoader(package, "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **options,
    )


@functools.cache
def _environment() -> Environment:
    environment = templates_of("harness.publish.report")
    environment.filters.update(cell=markdown_cell, sentence=sentence)
    shown = (
        anchor, as_markdown, folded_head, gaps, goals_line, headlines, in_order, meeting,
        never_run, of_word, page_of, papers_table, print_entry, summary_lines,
    )  # fmt: skip
    environment.globals.update({each.__name__: each for each in shown})
    environment.globals.update(ROOT=ROOT, MOST_TOLD=MOST_TOLD)
    return environment
