"""RESULTS.md: every paper on one page, and where to read on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import inf

from harness.declare.profiles import Profile
from harness.declare.verdict import Word
from harness.measure.goals import Baseline
from harness.provenance.seals import STATES
from harness.publish.check_row import CheckRow
from harness.publish.counts import counted_briefly, rank, reproduced, verdict_counts
from harness.publish.power import MOST, SPREAD, Needed
from harness.publish.report.goals_md import goals_line
from harness.publish.report.headlines import DECIDED, SHOWN, Told, headlines
from harness.publish.report.load import Paper, Sources
from harness.publish.report.paper_md import (
    Lost,
    anchor,
    counted,
    counts_lines,
    headline_lines,
    item_rows,
    linked_origin,
    lost,
)
from harness.publish.report.text import (
    markdown_cell,
    markdown_table,
    older_text,
    waiting_text,
    with_minus,
)
from harness.store.workspace import COMMITTED_PROFILES

HEAD = """# Results

`repro report` writes this page from the committed profiles; do not edit it.

A check is an exact statement, which `HOLDS` or `FAILS`: it says that our code is right, nothing of
what the paper found. A claim of a paper gets a verdict in each profile where its task was run, by
the 95 % interval over seeds against the threshold: reproduced, not, or undecided; "out of scale" is
what this scale can never decide, and is not counted among the checks of which some hold. Counts
give the checks, the claims, and apart from them halves of claims that are an either-or, and the
questions of our own, which no paper asks. What chance alone would give, how a claim stands to its
seal, and each word is told in [docs/verdicts.md](docs/verdicts.md). What follows ± is half of a
95 % interval over seeds, and in tables of numbers a standard error.
"""
HEADS = ("item", "title", "verdicts, at `cpu` where nothing else is said")
UNDECIDED = (
    f"Claims of the paper that are undecided, and about how many seeds would decide it {SPREAD}"
)
UP_TO = (10, 100, MOST)
"""The most seeds that the undecided claims of a group need."""
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_COUNTED = re.compile(r" ?\bin \d+ of \d+( cells)? ?")
"""In how many cases something is in the way."""


def results_markdown(papers: Sequence[Paper], baselines: Sequence[Baseline]) -> str:
    """Return RESULTS.md: per paper its counts, a line per item, and what did not hold.

    Equal data give equal bytes: nothing here depends on when or where it is written.
    """
    parts = [HEAD, "## Overview\n", *counts_lines(papers)]
    for paper in papers:
        parts += _paper(paper)
    parts += ["## Not run\n", _not_run(papers), "## Performance goals\n", goals_line(baselines)]
    return with_minus("\n".join(parts))


def papers_table(papers: Sequence[Paper]) -> str:
    """Return the table of the checkout's README: counts of each paper's claims, a line each.

    A paper is there if it has a headline.
    """
    words = sorted(DECIDED, key=rank)
    rows = [
        [_named(paper), *cells]
        for paper in papers
        if headlines(paper)
        for cells in _counted(paper, words)
    ]
    heads = [*(DECIDED[word] for word in words), "no verdict"]
    return markdown_table(["paper", "scale", *heads], rows)


def _named(paper: Paper) -> str:
    """Return a paper by what it is known as, with links to what was found and to the paper."""
    meta = paper.meta
    name = f"[{markdown_cell(meta.known_as or meta.title)}]({page_of(meta.id)})"
    return f"{name}, [arXiv](https://arxiv.org/abs/{meta.arxiv})" if meta.arxiv else name


def found_block(papers: Sequence[Paper]) -> str:
    """Return what the checkout's README says was found: in sentences, what did not hold first."""
    told = [each for paper in papers for each in headlines(paper)]
    read = "\n".join([_words(told), *_older(papers), *_built(papers)])
    return with_minus("\n".join([read, *map(_headline, told)]))


def _words(told: Sequence[Told]) -> str:
    """Return what the words behind the headlines mean, of seals those that are among them."""
    every = " ".join(each.text for each in told)
    met = [s for s in STATES if s in SHOWN and f"seal {s}" in every]
    seals = "; ".join(f"*{state}*, {STATES[state]}" for state in met)
    return (
        "Below stands what we measured, ± half of its 95 % interval over seeds. *Reproduced*: the"
        " interval lies inside what the claim asks; *not reproduced*: outside; *undecided*: it"
        " overlaps, or seeds are too few; *no verdict*: out of this scale, or not run."
        + (
            f" A *seal* says whether a claim moved after its trials had run: {seals}."
            if seals
            else ""
        )
        + " [All words](docs/verdicts.md).\n"
    )


def _older(papers: Sequence[Paper]) -> list[str]:
    """Return for each profile how many trials come from older code, and what renews them."""
    found: dict[Profile, list[Sources]] = {}
    for paper in papers:
        for profile, sources in counted(paper):
            found.setdefault(profile, []).append(sources)
    told = "[older code](docs/verdicts.md#older-code)"
    return [
        f"At `{profile}`, {older_text(every).replace('older code', told)}:"
        f" `repro run PAPER --profile {profile} --stale` renews them.\n"
        for profile, every in found.items()
        if any(sources.num_stale for sources in every)
    ]


def _built(papers: Sequence[Paper]) -> list[str]:
    """Return how many claims are reproduced by construction, where any is."""
    kept = [row for p in papers for profile, _ in counted(p) for row in reproduced(p.rows(profile))]
    built = sum(bool(row.by_construction) for row in kept)
    told = (
        f"Among {len(kept)} reproduced claims {built} could hardly fail: their numbers are set by"
        " construction, or nearly so.\n"
    )
    return [told] if built else []


def _counted(paper: Paper, words: Sequence[Word]) -> list[list[str]]:
    """Return for each profile that has trials how many claims of a paper have each verdict.

    Behind the words all others.
    """
    cells = []
    for profile, _ in counted(paper):
        found = verdict_counts(paper.rows(profile), "claim")
        decided = [found.get(word, 0) for word in words]
        numbers = [*decided, sum(found.values()) - sum(decided)]
        cells.append([f"`{profile}`", *map(str, numbers)])
    return cells


def _headline(told: Told) -> str:
    """Return a headline as a line of a list, with a link to the item's section."""
    link = f"{page_of(told.entry.paper)}#{anchor(told.entry)}"
    proviso = f"; **{markdown_cell(told.proviso)}**" if told.proviso else ""
    said, facts = markdown_cell(told.said), markdown_cell(told.facts)
    return f"- **{said}**: {facts}{proviso}. [{told.entry.id}]({link})"


def page_of(paper: str) -> str:
    """Return where a paper's page lies, from the top of the checkout."""
    return f"results/{paper}/README.md"


def _paper(paper: Paper) -> list[str]:
    """Return a paper's section: where its page is, what did not hold, and its items."""
    page = page_of(paper.meta.id)
    parts = [f"## {markdown_cell(paper.meta.title)}\n"]
    parts += [f"Broken: {markdown_cell(paper.problem)}.\n"] if paper.problem else []
    parts += headline_lines(paper, f"{page}#")
    parts += [f"At `{p}`, {linked_origin(sources, '')}.\n" for p, sources in counted(paper)]
    parts.append(f"Every claim, table and deviation: [its page]({page}).\n")
    runs = [(entry, run) for entry in paper.entries for run in entry.runs]
    above = [told.row for told in headlines(paper)]
    found = [each for entry, run in runs for each in lost(entry, run, "claim", f"{page}#")]
    lines = _lost(each for each in found if each.row not in above)
    more = ", beside those above" if any(each.row in above for each in found) else ""
    parts += [f"Claims that did not hold{more}:\n", "\n".join(lines) + "\n"] if lines else []
    lines = _undecided(paper)
    parts += [f"{UNDECIDED}:\n", "\n".join(lines) + "\n"] if lines else []
    return [*parts, markdown_table(HEADS, _items(paper)) + "\n"]


def _lost(found: Iterable[Lost]) -> list[str]:
    """Return a line per claim that did not hold; what is said of several items stands once."""
    alike: dict[tuple[str, str], list[Lost]] = {}
    for each in found:
        alike.setdefault((each.said, each.asked), []).append(each)
    return [
        first.line + "".join(f" The same in {o.link}{o.here}: {o.measured}." for o in others)
        for first, *others in alike.values()
    ]


def _undecided(paper: Paper) -> list[str]:
    """Return the claims that are undecided by what would decide them, the fewest seeds first."""
    found: dict[tuple[float, str], dict[str, list[str]]] = {}
    for entry, run in [(each, run) for each in paper.entries for run in each.runs]:
        at = f"[{entry.item.id}]({page_of(paper.meta.id)}#{anchor(entry)})"
        at += "" if run.profile == "cpu" else f" at `{run.profile}`"
        for row in run.rows:
            needed = run.needed.get((row.claim, row.cohort))
            if needed is not None and row.decides and row.kind == "claim":
                group = found.setdefault(_group(row, needed), {})
                told = f" {row.seeds_to_decide}" if row.seeds_to_decide is not None else ""
                group.setdefault(at, []).append(f"`{row.claim}`{told}")
    lines = []
    for (_, by), group in sorted(found.items(), key=lambda pair: pair[0][0]):
        named = "; ".join(f"{at} {', '.join(names)}" for at, names in group.items())
        lines.append(f"- {by}: {named}.")
    return _linked_once(lines)


def _group(row: CheckRow, needed: Needed) -> tuple[float, str]:
    """Return the place of a claim's group among others, and what would decide it, in words."""
    if row.seeds_to_decide is not None:
        most = next(most for most in UP_TO if most >= row.seeds_to_decide)
        return most, f"up to {most}"
    if needed.by == "too many seeds":
        return MOST + 1, f"more than {MOST}"
    if needed.by == "a second seed":
        return MOST + 2, "a second seed, to tell how many"
    why = _COUNTED.sub("", row.reason.partition(":")[0])
    return inf, f"no number of seeds, as {markdown_cell(why)}"


def _linked_once(lines: Iterable[str]) -> list[str]:
    """Return lines in which a link that was there before is its words alone."""
    known: set[str] = set()

    def said(link: re.Match[str]) -> str:
        is_new = link[0] not in known
        known.add(link[0])
        return link[0] if is_new else link[1]

    return [_LINK.sub(said, line) for line in lines]


def _items(paper: Paper) -> list[list[str]]:
    """Return a line per profile of every item; of a collection of ours with what a card lacks."""
    page, rows = page_of(paper.meta.id), []
    for e in paper.entries:
        awaits = not paper.is_published and e.runs and paper.awaits_card(e)
        lacks = "; not run on a GPU" if awaits else ""
        name = f"[{e.item.id}]({page}#{anchor(e)})"
        for _, title, profile, counts in item_rows(e, name, counted_briefly):
            at = f"at `{profile}`: " if profile not in ("", "cpu") else ""
            rows.append([name, title, f"{at}{counts}{lacks}"])
    return rows


def _not_run(papers: Sequence[Paper]) -> str:
    entries = [entry for paper in papers for entry in paper.entries]
    present = {run.profile for entry in entries for run in entry.runs}
    absent = [profile for profile in COMMITTED_PROFILES if profile not in present]
    lines = [f"- Profile `{profile}`: nothing is committed." for profile in absent]
    lines += [f"- {text}" for text in filter(None, [waiting_text(papers)])]
    lines += ["- What each item lacks stands at the end of its paper's page."]
    return "\n".join(lines) + "\n"
