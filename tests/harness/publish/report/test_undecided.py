"""RESULTS.md's lists: what did not hold, and what is undecided with what would decide it."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import Any

import pytest

from harness.declare.verdict import OVERLAPS, Word
from harness.measure.goals import Baseline
from harness.publish.check_row import CheckRow
from harness.publish.judge import judge
from harness.publish.power import Needed, all_needed
from harness.publish.report.goals_md import goals_line
from harness.publish.report.load import Entry, Paper, load_papers
from harness.publish.report.results_md import UNDECIDED, results_markdown
from harness.registry import Library
from harness.store.workspace import COMMITTED_PROFILES, Workspace
from tests.harness.hand_made import make_claim, make_result, make_task
from tests.harness.measure.hand_made_goals import document_of, goal_of
from tests.harness.publish.report.test_check_text import CLAIM

Demo = tuple[Workspace, Library]
EDGE = "in 2 of 3 cells a rate was chosen at the edge: sp chose 1 at alpha=1"
LINK = "[{0}](results/demo/README.md#demo-{0})"


@pytest.fixture
def paper(demo: Demo) -> Paper:
    (found,) = [p for p in load_papers(*demo, COMMITTED_PROFILES) if p.meta.id == "demo"]
    return found


def undecided(name: str, seeds: int | None, reason: str = OVERLAPS) -> CheckRow:
    return replace(CLAIM, claim=name, seeds_to_decide=seeds, reason=reason)


def with_rows(entry: Entry, needed: dict[str, Needed], *rows: CheckRow) -> Entry:
    by_claim = {(name, "first"): what for name, what in needed.items()}
    (run,) = entry.runs
    return replace(entry, runs=(replace(run, rows=rows, needed=by_claim),))


def lines_below(text: str, head: str) -> list[str]:
    return text.split(f"{head}:\n\n")[1].split("\n\n")[0].splitlines()


def test_what_is_undecided_is_grouped_by_what_would_decide_it(paper: Paper) -> None:
    by_seeds = Needed(by="seeds", told="")
    needed = {name: by_seeds for name in "abc"}
    needed["d"] = Needed(by="too many seeds", told="")
    needed |= {name: Needed(by="something else", told="") for name in "ef"}
    first, second, *rest = paper.entries
    first = with_rows(
        first, needed,
        undecided("e", None, EDGE), undecided("d", None), undecided("a", 12), undecided("b", 4),
        undecided("f", None, EDGE.replace("2 of 3", "1 of 2")),
        replace(undecided("c", 4), own_question=True),
    )  # fmt: skip
    second = with_rows(second, needed, undecided("c", 12), replace(CLAIM, verdict=Word.REPRODUCED))
    text = results_markdown([replace(paper, entries=(first, second, *rest))], [])
    fig02, fig10 = LINK.format("fig02"), LINK.format("fig10")
    assert lines_below(text, UNDECIDED) == [
        f"- up to 10: {fig02} `b` 4.",
        f"- up to 100: fig02 `a` 12; {fig10} `c` 12.",
        "- more than 10000: fig02 `d`.",
        "- no number of seeds, as a rate was chosen at the edge: fig02 `e`, `f`.",
    ]


def test_a_paper_of_which_all_is_decided_has_no_such_list(paper: Paper) -> None:
    assert UNDECIDED not in results_markdown([paper], [])


def test_what_is_said_of_several_items_stands_once(paper: Paper) -> None:
    first, second, *rest = paper.entries
    (run,) = first.runs
    again = replace(second, task=first.task, runs=(replace(run, profile="gpu"),))
    text = results_markdown([replace(paper, entries=(first, again, *rest))], [])
    (line,) = lines_below(text, "Claims that did not hold")
    assert line.count("Loss shrinks as density falls") == line.count("asked: ") == 1
    assert "The same in [demo/fig10](results/demo/README.md#demo-fig10) at `gpu`: 1.00 " in line
    # Another profile than `cpu` is named in the table too.
    (row,) = [each for each in text.splitlines() if each.startswith("| [fig10]")]
    assert "| at `gpu`: 1 of 1 check holds; " in row and "`cpu`" not in row


def test_what_every_machine_misses_is_said_once() -> None:
    one, two = [goal_of("list", 0.7), goal_of("resume", 0.7)], [goal_of("list", 0.8)]
    text = goals_line([Baseline(document=document_of(*goals)) for goals in (one, two)])
    assert text.count("list") == 1 and "Missed on each of them: list." in text
    assert "0 of 2 goals are met; missed: resume." in text and "0 of 1 goals are met." in text


DOUBT = {"doubt": lambda table: "it is"}


@pytest.mark.parametrize(
    ("ys", "changes", "by", "told"),
    [
        ((0.0, 1.0, 2.5), {}, "seeds", "about "),
        ((0.0, 1.0, 2.0), {}, "too many seeds", "more than 10000 seeds would be needed"),
        ((0.0, 1.0, 2.5), DOUBT, "something else", "no number of seeds settles that; were it"),
        ((0.1, 0.2, 0.3), DOUBT, "something else", "these seeds would decide it"),
        (
            (0.1, 0.2, 0.3),
            {"quantity": lambda table: nan},
            "something else",
            "nothing was measured",
        ),
        ((0.0, 1.0, 2.5), DOUBT | {"deterministic": True}, "a second seed", "one seed has no"),
    ],
)
def test_what_would_decide_a_claim(
    ys: tuple[float, ...], changes: dict[str, Any], by: str, told: str
) -> None:
    """The mean against at most 1: on it no seeds suffice, and a doubt no seeds take away."""
    task = make_task(make_claim(**changes))
    result = make_result(task, ys)
    rows = judge(task, result, "smoke", None).rows
    needed = all_needed(task, rows, result)["c", "first"]
    assert (needed.by, rows[0].verdict) == (by, Word.INCONCLUSIVE) and told in needed.told
    assert not all_needed(task, [replace(rows[0], verdict=Word.REPRODUCED)], result)
