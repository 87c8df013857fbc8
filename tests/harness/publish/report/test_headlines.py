"""Headlines: the verdict chooses the sentence, and its numbers stand behind it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.declare.papers import Headline
from harness.declare.verdict import OVERLAPS, Word
from harness.publish.check_row import CheckRow
from harness.publish.report.headlines import headlines
from harness.publish.report.load import Paper
from tests.harness.publish.report.pages import Demo, paper_of, with_rows

NUMBERS = "Ours: 1.00 ± 0.25 nats; asked: at least 0.5 nats; paper: 1; 3 seeds."
OTHER = Headline(claim="fig02:shrinks", yes="Dense", no="Not dense", undecided="Open")


def paper_with(demo: Demo, **fields: object) -> Paper:
    """Return the demo paper with the verdict changed that its headline is about."""

    def changed(row: CheckRow) -> CheckRow:
        return replace(row, **fields) if row.claim == "grows" else row  # type: ignore[arg-type]

    return with_rows(paper_of(demo), changed)


@pytest.mark.parametrize(
    ("verdict", "sentence"),
    [
        (Word.SUPPORTED, "✔ Sparse nets lose"),
        (Word.CONTRADICTED, "✘ Sparse nets win"),
        (Word.UNDECIDED, "? Whether sparse nets lose is open"),
        (Word.UNTESTED, "– Loss grows as density falls"),  # noqa: RUF001
    ],
)
def test_the_verdict_chooses_the_sentence(demo: Demo, verdict: Word, sentence: str) -> None:
    (told,) = headlines(paper_with(demo, verdict=verdict, reason=OVERLAPS))
    assert told.text == f"{sentence}. {NUMBERS}"


def test_what_is_open_or_exploratory_says_so(demo: Demo) -> None:
    fields = {"verdict": Word.UNDECIDED, "registered": False, "seeds_to_decide": 9}
    (told,) = headlines(paper_with(demo, **fields))
    assert told.text.endswith("3 seeds. About 9 seeds would decide it; exploratory.")


@pytest.mark.parametrize(
    ("verdict", "order"),
    [(Word.SUPPORTED, ["shrinks", "grows"]), (Word.ERROR, ["grows", "shrinks"])],
)
def test_what_went_worst_stands_first(demo: Demo, verdict: Word, order: list[str]) -> None:
    """Whatever their order in paper.toml; the second one's claim is contradicted."""
    paper = paper_with(demo, verdict=verdict)
    meta = paper.meta.model_copy(update={"headlines": [*paper.meta.headlines, OTHER]})
    assert [told.line.row.claim for told in headlines(replace(paper, meta=meta))] == order
