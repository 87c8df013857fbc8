"""A paper's page, and the block of verdicts in its README: from loaded data to text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness.declare.papers import Deviation
from harness.declare.profiles import Profile
from harness.declare.verdict import Word
from harness.provenance.verify import AGAIN
from harness.publish.check_row import CheckRow, Kind
from harness.publish.counts import counted_in_words, rank, seals_text
from harness.publish.labels import Labels
from harness.publish.power import NeededBy
from harness.publish.report.answers import answer, in_short
from harness.publish.report.headlines import DECIDED, Told, headlines
from harness.publish.report.load import Entry, Paper, Run, Sources
from harness.publish.report.paper_table import grid
from harness.publish.report.printed import beside_run, print_entry, print_run
from harness.publish.report.table_text import as_markdown
from harness.publish.report.text import (
    ended_text,
    markdown_cell,
    markdown_table,
    origin,
    paper_cell,
    seal_note,
    seeds,
    threshold_source,
    verdict_note,
    with_minus,
)
from harness.publish.report.units import reading, what_number

NOTHING = "no claims"
VERDICTS = ("item", "title", "profile", "verdicts")
ROOT = "../.."
"""From a paper's page to the top of the checkout."""
UP = f"{ROOT}/"
UNSEEN = " (of no result that is shown here)"
"""What stands behind the name of a deviation of what was not run."""
TOLD_AT = {"older code": "older-code", AGAIN: "run-again"}
"""Words on where trials come from, and the part of docs/verdicts.md that tells what they mean."""
CLAIMS = ("claim", "verdict", "ours", "asked", "seal")


def paper_markdown(paper: Paper) -> str:
    """Return results/<paper>/README.md: every item of a paper, and every verdict.

    Equal data give equal bytes: nothing here depends on when or where it is written.
    """
    meta = paper.meta
    ids = f"{meta.venue}, arXiv {meta.arxiv}" if meta.arxiv else meta.venue
    names = ", ".join(meta.authors)
    by = [f"Broken: {paper.problem}"] if paper.problem else [t for t in (names, ids) if t]
    parts = [f"# {markdown_cell(meta.title)}\n"]
    parts += [". ".join(map(markdown_cell, by)) + ".\n"] if by else []
    parts.append(
        f"`repro report` writes this page; [RESULTS.md]({ROOT}/RESULTS.md) says how to read it.\n"
    )
    parts += headline_lines(paper, "#")
    parts += counts_lines([paper])
    parts += [f"At `{p}`, {linked_origin(s, UP)}.\n" for p, s in counted(paper)]
    told = headlines(paper)
    parts += [_entry(entry, told) for entry in paper.entries]
    parts += [*_deviations(paper), *_withdrawn(paper), *_not_run(paper)]
    return with_minus("\n".join(parts))


def headline_lines(paper: Paper, page: str) -> list[str]:
    """Return what came out in sentences, each with a link to its item; `page` is what links begin
    with."""
    lines = [
        f"- {markdown_cell(told.text)} [{told.entry.id}]({page}{anchor(told.entry)})"
        for told in headlines(paper)
    ]
    return ["\n".join(lines) + "\n"] if lines else []


def counts_lines(papers: Sequence[Paper]) -> list[str]:
    """Return per paper and profile what was found, and on what seals that rests."""
    lines = []
    for paper in papers:
        for profile in dict.fromkeys(run.profile for e in paper.entries for run in e.runs):
            told = [f"{paper.meta.id} at `{profile}`: {counted_in_words(paper.rows(profile))}"]
            lines.append(
                "- " + "; ".join([*told, *filter(None, [seals_text(paper.rows(profile))])])
            )
    return ["\n".join(lines) + "\n"] if lines else []


def counted(paper: Paper) -> list[tuple[Profile, Sources]]:
    """Return the profiles that have trials, and where those come from."""
    return [(profile, s) for profile, s in paper.sources.items() if s.num_trials]


def linked_origin(sources: Sources, root: str) -> str:
    """Return where trials come from, its words linked to what they mean, in docs below `root`."""
    text = origin(sources)
    for words, place in TOLD_AT.items():
        text = text.replace(words, f"[{words}]({root}docs/verdicts.md#{place})", 1)
    return text


def item_rows(
    entry: Entry, name: str, count: Callable[[Sequence[CheckRow]], str] = counted_in_words
) -> list[list[str]]:
    """Return a line per profile of an item: its name, title, profile and counts."""
    title = markdown_cell(entry.title)
    if entry.runs:
        told = [(r.profile, count(r.rows)) for r in entry.runs]
        return [[name, title, profile, counts or NOTHING] for profile, counts in told]
    counts = count(entry.not_run) if entry.not_run else ""
    absent = f"; at `cpu`: {counts}" if counts else ""
    return [[name, title, "", markdown_cell(entry.state) + absent]]


def anchor(entry: Entry) -> str:
    """Return what a link to an item's section on its paper's page ends in."""
    return entry.id.replace("/", "-")


def _deviations(paper: Paper) -> list[str]:
    """Return each deviation, its text once, also those of what was not run."""
    shown = {each.id for entry in paper.entries for run in entry.runs for each in run.deviations}
    lines = [
        f'- <a id="{_deviation_anchor(paper.meta.id, item)}"></a>{item.id},'
        f" {markdown_cell(item.what)}{'' if item.id in shown else UNSEEN}."
        f" The paper: {markdown_cell(item.paper)}"
        f" Ours: {markdown_cell(item.ours)} Expected effect: {markdown_cell(item.effect)}"
        for item in sorted(paper.deviations, key=lambda each: each.id)
    ]
    return ["## Deviations\n", "\n".join(lines) + "\n"] if lines else []


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
    return ["## Withdrawn claims\n", "\n".join(lines) + "\n"]


def _entry(entry: Entry, told: Sequence[Told]) -> str:
    head = f'<a id="{anchor(entry)}"></a>\n\n## {entry.id}: {markdown_cell(entry.title)}\n'
    if entry.state or entry.task is None:
        parts = [head, _sentence(entry.state)]
        parts += [_claims(entry, entry.not_run, entry.to_run, {})] if entry.not_run else []
        alone = print_entry(entry)
        parts += [as_markdown(alone, listed=False)] if alone is not None else []
        return "\n".join(parts)
    parts = [head, f"> {markdown_cell(answer(entry, told))}\n"]
    return "\n".join([*parts, *(_run(entry, run) for run in entry.runs)])


def _sentence(text: str) -> str:
    plain = markdown_cell(text)
    return f"{plain[:1].upper()}{plain[1:].rstrip('.')}.\n"


def _run(entry: Entry, run: Run) -> str:
    parts = [f"Profile `{run.profile}`: {_sources(entry, run)}.\n"]
    if run.problem:
        parts.append(_sentence(f"The stored result cannot be used: {run.problem}"))
    if run.figure is not None and entry.task is not None:
        parts.append(f"![{markdown_cell(entry.task.alt)}]({_figure(entry, run)})\n")
    claims = _claims(entry, run.rows, run.labels, run.needed) if run.rows else ""
    parts.append(claims or "It declares no claims.\n")
    parts += [f"A seed is {entry.seed}\n"] if entry.seed else []
    parts += _meeting(entry, run)
    if run.deviations:
        links = [f"[{d.id}](#{_deviation_anchor(entry.paper, d)})" for d in run.deviations]
        has_paper = entry.task is None or entry.task.has_paper
        whose = "Deviations from the paper" if has_paper else "Deviations"
        parts.append(f"{whose}: {', '.join(links)}.\n")
    return "\n".join(parts)


def _sources(entry: Entry, run: Run) -> str:
    """Say how many trials stand behind a run, and link its files."""
    base = f"{entry.id}.{run.profile}"
    links = [f"[table]({ROOT}/results/{base}.csv)", f"[origin]({ROOT}/results/{base}.json)"]
    links += [f"[figure]({_figure(entry, run)})"] if run.figure is not None else []
    if run.meta is None:
        return ", ".join(links)
    trials = ended_text(run.meta.trials.model_dump(), run.sources)
    return f"trials {trials}; {linked_origin(run.sources, UP)}; {', '.join(links)}"


def _figure(entry: Entry, run: Run) -> str:
    return f"{ROOT}/figures/{entry.id}.{run.profile}.svg"


def _claims(entry: Entry, rows: Sequence[CheckRow], labels: Labels, needed: NeededBy) -> str:
    """Return claims, those first that did not hold or are undecided, and checks folded away."""

    def table(some: Sequence[CheckRow]) -> str:
        return markdown_table(CLAIMS, [_claim_row(entry, row, labels, needed) for row in some])

    shown, held = in_order(rows)
    parts = [table(shown) + "\n"] if shown else []
    if held:
        told = held_in_words(held)
        parts.append(f"<details><summary>{told}</summary>\n\n{table(held)}\n\n</details>\n")
    return "\n".join(parts)


def in_order(rows: Sequence[CheckRow]) -> tuple[list[CheckRow], list[CheckRow]]:
    """Return what a page shows, those first that did not hold or are undecided, and what it folds.

    Of one verdict claims of the paper stand first. Checks that hold are folded.
    """
    held = [row for row in rows if row.kind == "check" and row.verdict == Word.HOLDS]
    shown = (row for row in rows if row not in held)
    return sorted(shown, key=lambda row: (rank(row.verdict), row.kind != "claim")), held


def held_in_words(held: Sequence[CheckRow]) -> str:
    """Return what stands over folded checks."""
    return "1 check holds" if len(held) == 1 else f"{len(held)} checks hold"


def _claim_row(entry: Entry, row: CheckRow, labels: Labels, needed: NeededBy) -> list[str]:
    assert entry.task is not None
    claim = next(claim for claim in entry.task.claims if claim.id == row.claim)
    read = reading(row, claim.criterion.unit, claim.criterion.tolerance)
    marks = ", ".join(filter(None, [_counted_as(row), row.by_construction]))
    told = verdict_note(row, needed)
    row = read.row
    paper = paper_cell(claim, row, has_paper=entry.task.has_paper)
    cells = [
        f"{labels.statement(claim)} ({marks})" if marks else labels.statement(claim),
        f"{row.verdict}: {told}" if told else row.verdict,
        ", ".join(
            filter(None, [read.ours, what_number(row, claim.criterion), read.uneven, _seeds(row)])
        ),
        f"{read.asked} ({threshold_source(claim)}); paper: {paper}",
        seal_note(row) if row.seal != "none" else "",
    ]
    return [markdown_cell(cell) for cell in cells]


def _seeds(row: CheckRow) -> str:
    return seeds(row) if row.measured is not None else ""


def _counted_as(row: CheckRow) -> str:
    """Say what keeps an empirical statement out of the paper's claims, nothing where it is one."""
    return "ours" if row.own_question else f"half of `{row.half_of}`" if row.half_of else ""


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


def _not_run(paper: Paper) -> list[str]:
    """Return what was not run of a paper, and why."""
    lines = []
    for entry in paper.entries:
        if entry.state:
            lines.append(f"- {entry.id}: {markdown_cell(entry.state)}")
        for run in entry.runs:
            lines += [f"- {entry.id} at `{run.profile}`, {text}" for text in _gaps(run)]
    return ["## Not run\n", "\n".join(lines) + "\n"] if lines else []


def verdict_block(paper: Paper) -> str:
    """Return what stands between the markers of a paper's README.

    What did not hold is written out, before the counts of each item, profile by profile.
    """
    runs = [(entry, run) for entry in paper.entries for run in entry.runs]
    page = f"{ROOT}/results/{paper.meta.id}/README.md#"
    missed = [each.line for entry, run in runs for each in lost(entry, run, "claim", page)]
    own = [each.line for entry, run in runs for each in lost(entry, run, "own", page)]
    table = markdown_table(VERDICTS, [row for e in paper.entries for row in item_rows(e, e.id)])
    decided = any(row.kind == "claim" and row.verdict in DECIDED for _, r in runs for row in r.rows)
    none = (
        "No decided claim failed." if decided else "No decided claim failed: none is decided here."
    )
    found = "\n".join(["What did not hold:", "", *missed]) if missed else none
    found += "\n\n" + "\n".join(["Questions of our own, answered no:", "", *own]) if own else ""
    told = "\n".join(headline_lines(paper, page))
    stale = "".join(f"At `{p}`, {linked_origin(s, UP)}.\n" for p, s in counted(paper))
    stale += "\n" + "\n".join(counts_lines([paper]))
    return with_minus("\n".join(filter(None, [told, f"{stale}\n{found}\n\n{table}\n"])))


@dataclass(frozen=True, kw_only=True, slots=True)
class Lost:
    """A claim that did not hold, in the parts of a line."""

    row: CheckRow
    link: str
    """To its item, with the profile."""
    said: str
    here: str
    """What stood in for what it names, where that stands behind all it says."""
    measured: str
    asked: str

    @property
    def line(self) -> str:
        return (
            f"- {self.link}: {self.said}{self.here}. Measured {self.measured}; asked: {self.asked}."
        )


def lost(entry: Entry, run: Run, kind: Kind, page: str) -> Iterable[Lost]:
    """Yield what did not hold in a run, with a link to the whole of it.

    page: what links begin with.
    """
    claims = {claim.id: claim for claim in entry.task.claims} if entry.task else {}
    for row in run.rows:
        if row.verdict == Word.NOT_REPRODUCED and row.decides and row.kind == kind:
            claim = claims[row.claim]
            read = reading(row, claim.criterion.unit)
            band = f", 95 % interval {read.uneven}" if read.uneven else ""
            what = what_number(row, claim.criterion)
            said, plain = in_short(claim, run.labels)[:-1], in_short(claim, Labels())[:-1]
            is_behind = said.startswith(f"{plain} (here ")
            yield Lost(
                row=row,
                link=f"[{entry.id}]({page}{anchor(entry)}) at `{run.profile}`",
                said=markdown_cell(plain if is_behind else said),
                here=f" {markdown_cell(said.removeprefix(plain))}" if is_behind else "",
                measured=f"{read.ours}{f' ({what})' if what else ''}{band}",
                asked=read.asked,
            )
