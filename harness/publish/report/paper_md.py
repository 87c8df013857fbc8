"""A paper's page, and the block of verdicts in its README: from loaded data to text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.declare.papers import Deviation
from harness.declare.verdict import Word
from harness.publish.check_row import CheckRow
from harness.publish.counts import by_luck, counted, registered_in_words
from harness.publish.report.claim_line import ClaimLine, folded_head, in_order, sentence
from harness.publish.report.headlines import headlines
from harness.publish.report.load import Entry, Paper, Run
from harness.publish.report.paper_table import grid
from harness.publish.report.printed import beside_run, print_entry, print_run
from harness.publish.report.table_text import as_markdown
from harness.publish.report.text import markdown_cell, markdown_table, with_minus

ROOT = "../.."
"""From a paper's page to the top of the checkout."""


def paper_markdown(paper: Paper) -> str:
    """Return results/<paper>/README.md: every item of a paper, and every verdict.

    Equal data give equal bytes: nothing here depends on when or where it is written.
    """
    meta = paper.meta
    ids = f"{meta.venue}, arXiv {meta.arxiv}" if meta.arxiv else meta.venue
    by = [text for text in (", ".join(meta.authors), ids) if text]
    by = [f"Broken: {paper.problem}"] if paper.problem else by
    parts = [f"# {markdown_cell(meta.title)}\n"]
    parts += [". ".join(map(markdown_cell, by)) + ".\n"] if by else []
    parts.append(
        f"`repro report` writes this page. [RESULTS.md]({ROOT}/RESULTS.md) says how to read it.\n"
    )
    parts += headline_lines(paper, "#")
    parts += [f"{line}\n" for line in summary_lines(paper)]
    parts += [_entry(entry) for entry in paper.entries]
    parts += _deviations(paper)
    return with_minus("\n".join(parts))


def headline_lines(paper: Paper, page: str) -> list[str]:
    """Return the headlines as a list, each with a link to its item; links begin with `page`."""
    lines = [
        f"- {markdown_cell(told.text)} [{told.entry.id}]({page}{anchor(told.entry)})"
        for told in headlines(paper)
    ]
    return ["\n".join(lines) + "\n"] if lines else []


def summary_lines(paper: Paper) -> list[str]:
    """Return what a paper came to in a few sentences: counts, luck, and where trials come from."""
    lines = []
    for profile in paper.profiles:
        rows = paper.of(profile)
        told = [f"At `{profile}`: {counted(rows)}.", by_luck(rows), registered_in_words(rows)]
        lines.append(" ".join(filter(None, [*told, paper.earlier_code(profile)])))
    return [*lines, *([paper.verified] if paper.verified else [])]


def anchor(entry: Entry) -> str:
    """Return what a link to an item's section on its paper's page ends in."""
    return entry.id.replace("/", "-")


def claim_lines(rows: Iterable[CheckRow]) -> list[str]:
    """Return claims as a list, and the checks folded away below it."""
    shown, folded = in_order(rows)
    parts = [_list(shown)] if shown else []
    if folded:
        parts.append(
            f"<details><summary>{folded_head(folded)}</summary>\n\n{_list(folded)}\n</details>\n"
        )
    return parts


def _list(lines: Iterable[ClaimLine]) -> str:
    return "".join(f"- {markdown_cell(line.whole)}\n" for line in lines)


def _entry(entry: Entry) -> str:
    title = markdown_cell(entry.item.title)
    parts = [f'<a id="{anchor(entry)}"></a>\n\n## {entry.id}: {title}\n']
    if entry.state or entry.task is None:
        parts.append(f"{sentence(markdown_cell(entry.state))}.\n")
        parts += claim_lines(entry.not_run)
        alone = print_entry(entry)
        parts += [as_markdown(alone, listed=False)] if alone is not None else []
        return "\n".join(parts)
    return "\n".join([*parts, *(_run(entry, run) for run in entry.runs)])


def _run(entry: Entry, run: Run) -> str:
    assert entry.task is not None
    base = f"{entry.id}.{run.profile}"
    links = [f"[table]({ROOT}/results/{base}.csv)", f"[origin]({ROOT}/results/{base}.json)"]
    if run.figure is not None:
        links.append(f"[figure]({ROOT}/figures/{base}.svg)")
    parts = [f"At `{run.profile}` ({', '.join(links)}). {run.ran_on}".rstrip() + "\n"]
    if run.problem:
        parts.append(f"The stored result cannot be used: {markdown_cell(run.problem)}.\n")
    if run.figure is not None:
        alt = markdown_cell(entry.task.alt)
        parts.append(f"![{alt}]({ROOT}/figures/{base}.svg)\n")
    parts += claim_lines(run.rows) or ["It declares no claims.\n"]
    if entry.task.table.seed_doc:
        parts.append(f"A seed is {entry.task.table.seed_doc}\n")
    parts += _meeting(entry, run)
    parts += [f"Not run: {markdown_cell(text)}.\n" for text in gaps(run)]
    if run.deviations:
        links = [f"[{d.id}](#{_deviation_anchor(entry.paper, d)})" for d in run.deviations]
        parts.append(f"Deviations: {', '.join(links)}.\n")
    return "\n".join(parts)


def _meeting(entry: Entry, run: Run) -> list[str]:
    """Return the table as it is printed, or else the lines of it that meet a value of the paper."""
    printed = print_run(entry, run)
    if printed is not None:
        return [as_markdown(printed, listed=False)]
    content = beside_run(entry, run)
    if content is None:
        return []
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


def gaps(run: Run) -> Iterator[str]:
    """Yield the trials of a run that have no result, those of one reason together."""
    by_reason: dict[str, list[str]] = {}
    for gap in run.meta.not_run if run.meta is not None else []:
        by_reason.setdefault(gap.reason, []).append(gap.trial)
    for reason, trials in by_reason.items():
        more = f" and {len(trials) - 1} more" if len(trials) > 1 else ""
        yield f"{trials[0]}{more}: {reason}"


def _deviations(paper: Paper) -> list[str]:
    """Return each deviation, its text once."""
    lines = [
        f'- <a id="{_deviation_anchor(paper.meta.id, item)}"></a>{item.id},'
        f" {markdown_cell(item.what)}."
        f" The paper: {markdown_cell(item.paper)}"
        f" Ours: {markdown_cell(item.ours)} Expected effect: {markdown_cell(item.effect)}"
        for item in sorted(paper.deviations, key=lambda each: each.id)
    ]
    return ["## Deviations\n", "\n".join(lines) + "\n"] if lines else []


def _deviation_anchor(paper: str, deviation: Deviation) -> str:
    return f"{paper}-{deviation.id.lower()}"


def verdict_block(paper: Paper) -> str:
    """Return what stands between the markers of a paper's README: counts and what is not so."""
    page = f"{ROOT}/results/{paper.meta.id}/README.md#"
    parts = [*headline_lines(paper, page), *(f"{line}\n" for line in summary_lines(paper))]
    parts += against(paper, page)
    return with_minus("\n".join(parts))


def against(paper: Paper, page: str) -> list[str]:
    """Return the claims that are contradicted, with links to their items."""
    lines = [
        f"- {markdown_cell(ClaimLine(row).whole)} [{entry.id}]({page}{anchor(entry)})"
        for entry in paper.entries
        for row in entry.rows
        if row.kind == "claim" and row.verdict == Word.CONTRADICTED
    ]
    return ["Contradicted:\n", "\n".join(lines) + "\n"] if lines else []
