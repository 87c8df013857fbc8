"""A line on a list of claims that did not hold, or are undecided, can be read by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.declare.claims import STEPS, Criterion
from harness.declare.verdict import Word
from harness.publish.check_row import CheckRow
from harness.publish.report.text import with_minus
from harness.publish.report.units import what_number
from harness.publish.stored import stored_rows
from harness.registry import load_registry
from harness.store.workspace import Workspace
from tests.checkout import ROOT

LIBRARY = load_registry()
OPEN_OR_LOST = (Word.NOT_REPRODUCED, Word.INCONCLUSIVE)
REFERS_BACK = re.compile(r"(It|They|The same|This|These)\b")


def listed() -> Iterator[tuple[CheckRow, Criterion]]:
    """Yield what pages list as not held or undecided, with what each claim asks."""
    for task in LIBRARY.tasks.values():
        criteria = {claim.id: claim.criterion for claim in task.claims}
        for row in stored_rows(Workspace(ROOT), task, "cpu"):
            if row.verdict in OPEN_OR_LOST and row.decides:
                yield row, criteria[row.claim]


def is_difference(criterion: Criterion) -> bool:
    """Return whether a bound tells nothing of what was taken from what."""
    if criterion.form in STEPS:
        return len(criterion.names) < 2
    if isinstance(criterion.threshold, tuple):
        return criterion.form == "within" and criterion.threshold[0] < 0 < criterion.threshold[1]
    return criterion.form != "equal" and criterion.threshold <= 0


def test_a_listed_difference_says_what_was_taken_from_what() -> None:
    """Beside "more than 0" a reader of -18 points would have to look up its sign in the code."""
    differences = [(row, asked) for row, asked in listed() if is_difference(asked)]
    assert differences
    silent = [f"{row.task}:{row.claim}" for row, asked in differences if not asked.measures]
    assert silent == []


def test_one_of_several_listed_numbers_says_how_it_stands_among_them() -> None:
    """A bound for 6 of 7 kinds is judged by one of them: its line says which, and why that one."""
    several = [
        (row, what_number(row, asked))
        for row, asked in listed()
        if row.measured is not None and len(asked.names) > 1
    ]
    assert any("6th best of 7" in what for _, what in several)
    place = re.compile(r"decides, (worst|best|\d(st|nd|rd|th) best) of \d+( steps)?$")
    unplaced = [
        f"{row.task}:{row.claim}: {what}" for row, what in several if not place.search(what)
    ]
    assert unplaced == []


def test_no_statement_needs_the_one_before_it() -> None:
    """Lists of what did not hold have a claim's line without its neighbours."""
    every = (claim for task in LIBRARY.tasks.values() for claim in task.claims)
    empirical = [claim for claim in every if claim.scope.grade != "exact"]
    assert empirical
    assert [c.id for c in empirical if REFERS_BACK.match(c.statement)] == []


def test_lists_tell_what_was_measured() -> None:
    """Each claim once: on a line, behind one that says the same, or in a headline above both."""
    page = (ROOT / "RESULTS.md").read_text(encoding="utf-8")
    told = re.findall(r" Measured | The same in \[|^- .*, not reproduced\b", page, re.MULTILINE)
    rows = [(r, a) for r, a in listed() if r.verdict == Word.NOT_REPRODUCED and r.kind == "claim"]
    lost = [what_number(row, asked) for row, asked in rows]
    assert len(told) == len(lost)
    missing = [what for what in lost if what and with_minus(f"({what})") not in page]
    assert missing == []


def test_what_a_statement_says_of_the_papers_number_is_declared() -> None:
    """A page that says "not known here" beside "(the paper: 2)" would contradict itself."""
    said = {"quoted": re.compile(r"\(the paper: .*\d"), "unpublished": re.compile("does not plot")}
    told: dict[str, list[str]] = {word: [] for word in said}
    for task in LIBRARY.tasks.values():
        for claim in task.claims:
            if claim.criterion.paper_value is None:
                for word, words in said.items():
                    if words.search(claim.statement):
                        assert claim.scope.paper_number == word, f"{task.id}:{claim.id}"
                        told[word].append(claim.id)
    assert all(told.values())
