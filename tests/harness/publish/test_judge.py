"""Verdicts on tables made by hand: each word, and what stands beside it in a row."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from typing import Any

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.criterion import Criterion, Form, Threshold
from harness.declare.scope import Control
from harness.declare.task import Task
from harness.declare.verdict import NO_CONTROL, OVERLAPS, band, with_threshold_times
from harness.publish.check_row import CheckRow
from harness.publish.judge import judge
from harness.store.result import NotRun, TrialCounts
from tests.harness.hand_made import crash, make_claim, make_result, make_task, mean

LOW, HIGH = (0.5, 0.6, 0.55, 0.5, 0.6), (5.0, 5.1, 5.2, 5.0, 5.1)
MIXED = (0.0, 1.0, 2.5, 0.5, 1.5)
"""Seeds whose mean is at most 1, more than 1, and neither for sure."""


def check_one(
    claim: Claim,
    ys: tuple[float, ...] = LOW,
    *,
    registered: Task | None = None,
    reference: pd.DataFrame | None = None,
    **changes: Any,
) -> CheckRow:
    """Judge one claim on a table whose records were registered with some task."""
    task = make_task(claim)
    result = make_result(task, ys, registered=registered, **changes)
    (row,) = judge(task, result, "smoke", reference)
    return row


def control(most: float) -> Control:
    criterion = Criterion(form="at_most", quantity=mean, threshold=most, unit="")
    return Control(statement="nets learn", criterion=criterion)


EXACT = {"grade": "exact", "deterministic": True}


@pytest.mark.parametrize(
    ("changes", "ys", "verdict", "reason"),
    [
        ({}, LOW, "SUPPORTED", ""),
        ({}, MIXED, "UNDECIDED", OVERLAPS),
        ({}, HIGH, "UNDECIDED", NO_CONTROL),
        ({"control": control(9.0)}, HIGH, "CONTRADICTED", ""),
        ({"control": control(0.1)}, HIGH, "UNTESTED", "control: this run does not show that nets"),
        ({"profiles": ("paper",)}, LOW, "UNTESTED", "scale: "),
        ({"quantity": lambda table: math.nan}, LOW, "UNDECIDED", "the quantity is not a number"),
        ({"doubt": lambda table: "at the edge"}, LOW, "UNDECIDED", "at the edge"),
        ({"quantity": crash}, LOW, "ERROR", "KeyError"),
        (EXACT, LOW, "HOLDS", ""),
        (EXACT, HIGH, "FAILS", ""),
        ({"grade": "exact"}, MIXED, "FAILS", OVERLAPS),
    ],
)
def test_each_word(
    changes: dict[str, Any], ys: tuple[float, ...], verdict: str, reason: str
) -> None:
    row = check_one(make_claim(**changes), ys)
    assert (row.verdict, row.reason[: len(reason)]) == (verdict, reason)
    assert row.fails == (verdict in ("FAILS", "ERROR"))
    assert (row.measured is None) == (
        verdict == "ERROR" or row.reason.startswith("scale") or "not a number" in reason
    )


def test_how_a_control_went_stands_in_the_row() -> None:
    claims = (make_claim(), *(make_claim(control=control(most)) for most in (9.0, 0.1)))
    assert [check_one(claim).control for claim in claims] == ["", "held", "failed"]


@pytest.mark.parametrize(
    ("before", "registered"),
    [
        (make_claim(), True),
        (make_claim(statement="In other words."), True),
        (make_claim(threshold=2.0), False),
        (make_claim(quantity=crash), False),
        (make_claim(control=control(9.0)), False),
        (make_claim("other"), False),
    ],
    ids=["same", "words", "threshold", "quantity", "control", "late"],
)
def test_a_claim_is_registered_where_all_records_hold_what_it_asks_today(
    before: Claim, registered: bool
) -> None:
    assert check_one(make_claim(), registered=make_task(before)).registered == registered


def test_what_was_not_run_says_so_and_how_to_run_it() -> None:
    task = make_task(make_claim(), make_claim("big", profiles=("paper",)))
    rows = judge(task, None, "smoke", None)
    assert [row.reason.partition(":")[0] for row in rows] == ["not run", "scale"]
    assert "repro run demo/tab01 --profile smoke" in rows[0].reason


@pytest.mark.parametrize(
    ("counts", "why"), [({"failed": 2}, "error"), ({"skipped": 2}, "missing"), ({}, "not run")]
)
def test_an_incomplete_table_decides_nothing(counts: dict[str, int], why: str) -> None:
    trials = TrialCounts(done=3, **(counts or {"missing": 2}))
    gap = NotRun(trial="demo/run[seed=3]", reason="it broke")
    row = check_one(make_claim(), trials=trials, not_run=[gap])
    assert (row.measured, row.fails) == (None, False)
    assert row.reason == f"{why}: 2 of 5 trials have no result, first demo/run[seed=3]: it broke"


def paper_value(reference: pd.DataFrame) -> float:
    return float(reference["value"].iloc[0])


def test_the_paper_s_number_stands_beside_where_it_was_published() -> None:
    claim = make_claim(paper_value=paper_value)

    def shown(*values: float, status: str = "exact", claim: Claim = claim) -> CheckRow:
        reference = pd.DataFrame({"value": values, "status": [status] * len(values)})
        return check_one(claim, reference=reference)

    assert shown(0.3).paper_value == 0.3
    none = [shown(math.nan), shown(), shown(0.3, status="early_version")]
    assert [row.paper_value for row in none] == [None] * 3
    derived = replace(claim, criterion=claim.criterion.beside_derived(paper_value))
    assert shown(0.3, claim=derived).paper_is_derived and not shown(claim=derived).paper_is_derived
    broken = check_one(claim, reference=pd.DataFrame({"status": ["exact"]}))
    assert (broken.verdict, "KeyError" in broken.reason) == ("ERROR", True)


def test_what_is_open_by_chance_alone_says_how_many_seeds_would_decide_it() -> None:
    inside, outside = (0.0, 0.5, 2.0, 0.5, 1.0), MIXED
    assert (check_one(make_claim(), inside).seeds_to_decide or 0) > 5
    # More seeds would take it out of what is asked, which only a positive control lets them say.
    assert check_one(make_claim(), outside).seeds_to_decide is None
    controlled = make_claim(control=control(10.0))
    assert (check_one(controlled, outside).seeds_to_decide or 0) > 5
    more_would_not = [make_claim(doubt=lambda table: "at the edge"), make_claim(deterministic=True)]
    assert [check_one(c, MIXED).seeds_to_decide for c in more_would_not] == [None, None]
    assert check_one(make_claim(), HIGH).seeds_to_decide is None


def both_levels(table: pd.DataFrame) -> list[float]:
    y = float(table["y"].mean())
    return [y, y - 0.2]


def test_of_several_numbers_the_one_that_decides_is_named() -> None:
    claim = make_claim(quantity=both_levels)
    named = claim.criterion.naming("at x = 0", "at x = 1")
    told = [check_one(replace(claim, criterion=each)).deciding for each in (claim.criterion, named)]
    assert told == ["number 1 of 2 decides", "at x = 0 decides"]
    some = check_one(replace(claim, criterion=named.in_at_least(1)))
    assert some.deciding == "at x = 1 decides"
    assert [part.name for part in some.parts] == ["at x = 0", "at x = 1"]


@pytest.mark.parametrize(
    ("form", "threshold", "halved", "doubled"),
    [
        ("at_most", 1.2, (-math.inf, 0.6), (-math.inf, 2.4)),
        ("within", (1.0, 3.0), (1.5, 2.5), (0.0, 4.0)),
        ("ratio", (0.25, 4.0), (math.log(0.5), math.log(2)), (math.log(1 / 16), math.log(16))),
        ("ratio", (0.0, 0.1), (-math.inf, math.log(0.05)), (-math.inf, math.log(0.2))),
    ],
)  # fmt: skip
def test_a_threshold_is_halved_or_doubled_about_what_leaves_no_room(
    form: Form, threshold: Threshold, halved: tuple[float, float], doubled: tuple[float, float]
) -> None:
    criterion = Criterion(form=form, quantity=len, threshold=threshold, unit="")
    for factor, expected in ((0.5, halved), (2.0, doubled)):
        assert band(with_threshold_times(criterion, factor)) == pytest.approx(expected)


def test_a_row_with_an_infinite_bound_is_json() -> None:
    row = check_one(make_claim(form="within", threshold=(0.0, math.inf)))
    assert json.loads(json.dumps(asdict(row), allow_nan=False))["threshold"] == [0.0, "inf"]
    assert CheckRow.of(json.loads(json.dumps(asdict(row)))) == row
