"""What opens an item's section: one sentence of what went worst, or of what it shows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from harness.publish.report.answers import answer

from harness.declare.profiles import PROFILES
from harness.declare.verdict import OVERLAPS, Word
from harness.publish.check_row import CheckRow
from harness.publish.report.headlines import headlines
from harness.publish.report.load import Entry, Paper, load_papers
from tests.harness.publish.report.pages import Demo
from tests.harness.publish.report.test_headlines import paper_with

KEPT = {"verdict": Word.REPRODUCED, "reason": "", "seal": "sealed", "differences": ()}


def entry_of(paper: Paper, word: str = "fig02") -> Entry:
    return next(entry for entry in paper.entries if entry.item.id == word)


def changed(entry: Entry, **fields: dict[str, object]) -> Entry:
    """Return an item of which some claims, by id, have other fields; all others are gone."""

    def rows(some: tuple[CheckRow, ...]) -> tuple[CheckRow, ...]:
        return tuple(replace(r, **fields[r.claim]) for r in some if r.claim in fields)  # type: ignore[arg-type]

    return replace(entry, runs=tuple(replace(run, rows=rows(run.rows)) for run in entry.runs))


@pytest.fixture
def item(demo: Demo) -> Entry:
    return entry_of(paper_with(demo))


def test_what_went_worst_is_written_out_and_all_is_counted(item: Entry) -> None:
    assert answer(item) == (
        "Not reproduced: Loss shrinks as density falls: 1.00 ± 0.25 nats, 3 seeds, asked: at most"
        " -0.5 nats, seal late; claims in all: 1 reproduced, 1 not; 1 question of our own: 0 yes,"
        " 1 no."
    )


def test_a_claim_that_stands_alone_is_not_counted(item: Entry) -> None:
    open_ = {"verdict": Word.INCONCLUSIVE, "reason": OVERLAPS, "seeds_to_decide": 9}
    text = answer(changed(item, grows={**KEPT, **open_}))
    assert text.startswith("Undecided: Loss grows as density falls: 1.00 ± 0.25 nats, 3 seeds,")
    assert text.endswith("at least 0.5 nats, about 9 seeds would decide it.")


def test_a_headline_says_it_where_it_is_of_the_same_verdict(demo: Demo) -> None:
    paper = paper_with(demo, **{**KEPT, "verdict": Word.NOT_REPRODUCED})
    assert answer(entry_of(paper), headlines(paper)).startswith("It shrinks: 1.00 ± 0.25 nats,")
    held = paper_with(demo, **KEPT)
    assert answer(entry_of(held), headlines(held)).startswith("Not reproduced: Loss shrinks")


def test_what_this_scale_cannot_decide_is_said_so(item: Entry) -> None:
    out = {"verdict": Word.OUT_OF_PROFILE, "measured": None, "low": None, "high": None}
    assert answer(changed(item, grows=out, shrinks=out)) == (
        "No claim of the paper is decided here: 2 out of scale."
    )


def test_a_question_of_our_own_stands_only_where_the_paper_asks_nothing(item: Entry) -> None:
    assert answer(changed(item, stays={})).startswith(
        "No, to a question of our own: Ours: loss stays: 1.00 ± 0.25 nats, 3 seeds"
    )


def test_a_check_that_fails_comes_before_everything(item: Entry) -> None:
    text = answer(changed(item, rows={"verdict": Word.FAILS}, shrinks={}))
    assert text.startswith("A check of our code FAILS: The table has six rows")


def test_without_claims_it_says_what_is_shown(item: Entry) -> None:
    assert answer(changed(item, rows={})) == (
        "It shows a line that falls as density grows; nothing is claimed of it; 1 of 1 check holds."
    )


@pytest.mark.parametrize("title", ["AdamW of masks", "IIG and NIG", "A grid", "Blocks: each"])
def test_what_is_shown_keeps_the_capitals_of_names(demo: Demo, title: str) -> None:
    (paper,) = [p for p in load_papers(*demo, PROFILES) if p.meta.id == "demo"]
    entry = entry_of(paper, "fig10")  # It has no picture, so its title says what it shows.
    item = entry.item.model_copy(update={"title": title})
    kept = title if title.startswith(("AdamW", "IIG")) else title[0].lower() + title[1:]
    assert answer(replace(entry, item=item)).startswith(f"It shows {kept}; nothing is claimed")


def test_smoke_alone_decides_nothing(item: Entry) -> None:
    smoke = tuple(replace(run, profile="smoke") for run in item.runs)
    assert answer(replace(item, runs=smoke)).endswith("decides nothing.")
    text = answer(replace(item, runs=smoke, awaited="card"))
    assert "it needs a GPU; on a machine with one `make gpu ONLY=demo/fig02` runs it." in text
    card = (*smoke, *(replace(run, profile="gpu") for run in item.runs))
    assert "needs a GPU" not in answer(replace(item, runs=card, awaited="card"))


def test_an_item_that_was_not_run_has_its_state_alone(demo: Demo) -> None:
    (paper,) = [p for p in load_papers(*demo, PROFILES) if p.meta.id == "demo"]
    for word in ("fig11", "fig12", "tab01"):
        entry = entry_of(paper, word)
        assert entry.state and not answer(entry)
