"""Headlines: the claims that a paper names stand first, in its order, with their numbers."""

from __future__ import annotations

from dataclasses import replace

from harness.publish.report.headlines import headlines
from tests.harness.publish.report.pages import Demo, paper_of

NUMBERS = "Ours: 1.00 ± 0.25 nats; asked: at least 0.5 nats; paper: 1; 3 seeds."


def test_a_headline_is_its_claim_with_numbers(demo: Demo) -> None:
    (told,) = headlines(paper_of(demo))
    assert told.text == f"✔ Loss grows as density falls. {NUMBERS}"


def test_they_keep_the_order_of_the_paper(demo: Demo) -> None:
    paper = paper_of(demo)
    meta = paper.meta.model_copy(update={"headline": ["fig02:shrinks", "fig02:grows"]})
    told = headlines(replace(paper, meta=meta))
    assert [each.line.row.claim for each in told] == ["shrinks", "grows"]
