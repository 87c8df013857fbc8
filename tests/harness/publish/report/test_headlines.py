"""Headlines: the verdict chooses the sentence, and what a reader must know stands in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.declare.papers import Headline, Proviso
from harness.declare.verdict import OVERLAPS, Word
from harness.publish.check_row import CheckRow
from harness.publish.report.headlines import headlines
from harness.publish.report.load import Paper, load_papers
from harness.store.meta import TOO_FEW
from harness.store.workspace import COMMITTED_PROFILES
from tests.checkout import ROOT
from tests.harness.publish.report.pages import Demo

HEADLINE = Headline(claim="fig02:grows", yes="It grows", no="It shrinks", undecided="It is open")


def paper_with(demo: Demo, **fields: object) -> Paper:
    """Return the demo paper with the headline, its claim's verdict being changed."""
    workspace, library = demo
    papers = {p.meta.id: p for p in load_papers(workspace, library, COMMITTED_PROFILES)}
    paper = papers["demo"]

    def changed(row: CheckRow) -> CheckRow:
        return replace(row, **fields) if row.claim == "grows" else row  # type: ignore[arg-type]

    meta = paper.meta.model_copy(update={"headlines": [HEADLINE]})
    return replace(with_rows(paper, changed), meta=meta)


def with_rows(paper: Paper, changed: Callable[[CheckRow], CheckRow]) -> Paper:
    """Return a paper with its verdicts changed."""
    entries = tuple(
        replace(e, runs=tuple(replace(r, rows=tuple(map(changed, r.rows))) for r in e.runs))
        for e in paper.entries
    )
    return replace(paper, entries=entries)


def said(demo: Demo, **fields: object) -> str:
    (told,) = headlines(paper_with(demo, **fields))
    return told.text


@pytest.mark.parametrize(
    ("verdict", "sentence"),
    [
        (Word.REPRODUCED, "It grows: 1.00 ± 0.25 nats, 3 seeds, reproduced"),
        (Word.NOT_REPRODUCED, "It shrinks: 1.00 ± 0.25 nats, 3 seeds, not reproduced"),
        (Word.INCONCLUSIVE, "It is open: 1.00 ± 0.25 nats, 3 seeds, undecided"),
    ],
)
def test_the_verdict_chooses_the_sentence(demo: Demo, verdict: Word, sentence: str) -> None:
    assert said(demo, verdict=verdict, reason=OVERLAPS, seal="sealed").startswith(sentence)


@pytest.mark.parametrize("verdict", [Word.NOT_RUN, Word.OUT_OF_PROFILE, Word.ERROR])
def test_what_is_not_decided_is_no_headline(demo: Demo, verdict: Word) -> None:
    assert headlines(paper_with(demo, verdict=verdict)) == []


def test_doubts_chance_and_seals_stand_in_it(demo: Demo) -> None:
    text = said(
        demo, verdict=Word.INCONCLUSIVE, reason="chosen at the edge: one of three",
        seal="renewed", differences=("verdict: REPRODUCED then, INCONCLUSIVE now", "low: 1 then"),
        seeds_to_decide=9, deciding="the last step",
    )  # fmt: skip
    assert "(the last step decides)" in text and "about 9 seeds would decide it" in text
    assert text.endswith("chosen at the edge, seal renewed, reproduced when it was first judged.")
    weak = said(demo, verdict=Word.REPRODUCED, reason="", seal="sealed", chance_reason=TOO_FEW)
    assert TOO_FEW in weak and "seal" not in weak


@pytest.mark.parametrize(
    ("verdict", "order"),
    [
        (Word.NOT_REPRODUCED, ["grows", "shrinks"]),
        (Word.INCONCLUSIVE, ["shrinks", "grows"]),
        (Word.REPRODUCED, ["shrinks", "grows"]),
    ],
)
def test_what_did_not_hold_stands_first(demo: Demo, verdict: Word, order: list[str]) -> None:
    """Whatever their order in paper.toml; the second one's claim is not reproduced."""
    paper = paper_with(demo, verdict=verdict)
    second = HEADLINE.model_copy(update={"claim": "fig02:shrinks"})
    meta = paper.meta.model_copy(update={"headlines": [HEADLINE, second]})
    assert [told.row.claim for told in headlines(replace(paper, meta=meta))] == order


@pytest.mark.parametrize(
    ("verdict", "other", "added"),
    [
        (Word.REPRODUCED, Word.NOT_REPRODUCED, "; but not alone (not reproduced, seal late)."),
        (Word.REPRODUCED, Word.INCONCLUSIVE, "; but who knows (undecided, seal late)."),
        (Word.REPRODUCED, Word.REPRODUCED, ""),
        (Word.REPRODUCED, Word.NOT_RUN, ""),
        (Word.NOT_REPRODUCED, Word.NOT_REPRODUCED, ""),
    ],
)
def test_a_proviso_says_what_the_sentence_leaves_out(
    demo: Demo, verdict: Word, other: Word, added: str
) -> None:
    """By the other claim's verdict, and beside a claim that is reproduced alone."""
    paper = paper_with(demo, verdict=verdict, reason="", seal="sealed", chance_reason="")
    proviso = Proviso(claim="fig02:shrinks", yes="", no="not alone", undecided="who knows")
    headline = HEADLINE.model_copy(update={"proviso": proviso})
    paper = replace(paper, meta=paper.meta.model_copy(update={"headlines": [headline]}))

    def changed(row: CheckRow) -> CheckRow:
        return replace(row, verdict=other, seal="late") if row.claim == "shrinks" else row

    (told,) = headlines(with_rows(paper, changed))
    assert told.text.removesuffix(".") == f"{told.said}: {told.facts}{added}".removesuffix(".")


def test_lisas_lead_is_told_with_what_gives_most_of_it() -> None:
    """Two thirds of it are there with no block trained, and blocks are what the paper is about."""
    text = (ROOT / "README.md").read_text()
    (line,) = (line for line in text.splitlines() if "LISA's held-out loss is no worse" in line)
    assert "**but most of its lead over LoRA is there with no block trained" in line
