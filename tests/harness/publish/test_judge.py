"""Check rows: verdict, seal state, and what must fail a build."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.task import Task
from harness.publish.check_row import NOT_COMPUTED, CheckRow
from harness.publish.counts import counted_in_words, seals_text
from harness.publish.judge import check_stored, judge, profiles_to_check
from harness.store.meta import TOO_FEW, NotRun, TrialCounts
from harness.store.record import Record
from harness.store.result import csv_path, write_result
from harness.store.store import RecordStore
from harness.store.workspace import Workspace
from tests.harness.hand_made import (
    crash,
    evidence,
    make_claim,
    make_records,
    make_result,
    make_task,
    mean,
)


def check_one(
    claim: Claim,
    *,
    sealed: Claim | None = None,
    ys: tuple[float, ...] = (0.5, 0.6, 0.55),
    reference: pd.DataFrame | None = None,
    **changes: Any,
) -> CheckRow:
    """Check one claim on a table whose records carry the seal of `sealed`."""
    return check_records(make_records(make_task(sealed or claim), ys), claim, reference, **changes)


def check_records(
    records: dict[str, Record],
    claim: Claim,
    reference: pd.DataFrame | None = None,
    **changes: Any,
) -> CheckRow:
    """Check one claim on records that carry some seals."""
    task = make_task(claim)
    result = make_result(task, [float(str(r.rows[0]["y"])) for r in records.values()], **changes)
    (row,) = judge(task, result, "smoke", reference, evidence=evidence(records)).rows
    return row


def test_claim_that_holds() -> None:
    row = check_one(make_claim())
    assert (row.verdict, row.seal, row.num_seeds) == ("REPRODUCED", "sealed", 3)
    assert row.differences == ()
    assert row.measured == pytest.approx(0.55)
    assert row.low < row.measured < row.high  # type: ignore[operator]


def test_moved_threshold_shows_as_changed_with_the_old_one() -> None:
    row = check_one(make_claim(threshold=2.0), sealed=make_claim(threshold=0.1))
    assert (row.seal, row.threshold) == ("changed", 2.0)
    assert row.differences == ("threshold: 0.1 then, 2.0 now",)


def test_moved_infinite_threshold_shows_as_changed() -> None:
    old = make_claim(form="within", threshold=(-math.inf, 1.0))
    row = check_one(make_claim(form="within", threshold=(0.0, math.inf)), sealed=old)
    assert (row.seal, row.threshold) == ("changed", [0.0, "inf"])
    assert row.differences == ("threshold: ['-inf', 1.0] then, [0.0, 'inf'] now",)
    json.dumps(row.to_json(), allow_nan=False)


def test_other_quantity_under_the_same_threshold_shows_as_changed() -> None:
    def median(table: pd.DataFrame) -> float:
        return float(table["y"].median())

    row = check_one(make_claim(), sealed=make_claim(quantity=median))
    assert (row.seal, row.differences) == (
        "changed",
        ("code: another one then, and nothing was measured by it",),
    )


def test_claim_that_came_after_the_runs_is_late() -> None:
    assert check_one(make_claim(), sealed=make_claim(id="other")).seal == "late"


def mixed(claim: Claim, other: Claim) -> dict[str, Record]:
    """Return three records, the last of them sealed with another claim."""
    records = make_records(make_task(claim), (0.5, 0.6, 0.55))
    others = make_records(make_task(other), (0.5, 0.6, 0.55))
    key = list(records)[-1]
    return {**records, key: others[key]}


def test_claim_that_came_between_two_runs_is_late() -> None:
    records = mixed(make_claim(), make_claim(id="other"))
    assert check_records(records, make_claim()).seal == "late"


def test_one_record_with_another_seal_is_enough() -> None:
    records = mixed(make_claim(), make_claim(threshold=9.0))
    assert check_records(records, make_claim()).seal == "changed"


def test_task_without_a_result_was_not_run_and_says_how() -> None:
    (row,) = judge(make_task(make_claim()), None, "smoke", None).rows
    assert (row.verdict, row.seal, row.measured) == ("NOT_RUN", "none", None)
    assert "repro run demo/tab01 --profile smoke" in row.reason


def test_incomplete_table_decides_nothing() -> None:
    row = check_one(
        make_claim(),
        trials=TrialCounts(done=3, failed=2),
        not_run=[NotRun(trial="demo/run[seed=3]", reason="it broke")],
    )
    assert row.verdict == "NOT_RUN"
    assert row.reason.startswith("2 of 5 trials")
    assert "it broke" in row.reason


def test_other_profile_is_out_of_profile_though_nothing_was_run() -> None:
    (row,) = judge(make_task(make_claim()), None, "gpu", None).rows
    assert row.verdict == "OUT_OF_PROFILE"


@pytest.mark.parametrize(
    ("grade", "quantity", "ys", "fails"),
    [
        ("exact", mean, (0.5, 0.5, 0.5), False),
        ("exact", mean, (5.0, 5.0, 5.0), True),
        ("exact", mean, (0.0, 1.0, 2.0), True),
        ("empirical", mean, (5.0, 5.0, 5.0), False),
        ("empirical", crash, (0.5, 0.5, 0.5), True),
    ],
)
def test_only_errors_and_exact_claims_fail(
    grade: str, quantity: Any, ys: tuple[float, ...], fails: bool
) -> None:
    row = check_one(make_claim(grade=grade, quantity=quantity), ys=ys)
    assert row.fails == fails, row.verdict


def paper_value(reference: pd.DataFrame) -> float:
    return float(reference["value"].iloc[0])


def test_paper_value_stands_beside_the_measured_one() -> None:
    claim = make_claim(paper_value=paper_value)

    def shown(*values: float, status: str = "exact") -> float | None:
        reference = pd.DataFrame({"value": values, "status": [status] * len(values)})
        return check_one(claim, reference=reference).paper_value

    assert shown(0.3) == 0.3
    assert shown(math.nan) is None
    assert shown() is None
    assert shown(0.3, status="early_version") is None


def test_a_derived_paper_value_is_named_so_where_there_is_one() -> None:
    claim = make_claim()
    derived = replace(claim, criterion=claim.criterion.beside_derived(paper_value))
    reference = pd.DataFrame({"value": [0.3], "status": ["exact"]})
    assert check_one(derived, reference=reference).paper_standing == "derived"
    assert check_one(derived, reference=reference[:0]).paper_standing == ""


def test_paper_value_that_raises_is_an_error_not_a_crash() -> None:
    claim = make_claim(paper_value=paper_value)
    row = check_one(claim, reference=pd.DataFrame({"status": ["exact"]}))
    assert (row.verdict, row.paper_value, row.fails) == ("ERROR", None, True)
    assert "KeyError" in row.reason


def store(workspace: Workspace, task: Task) -> Path:
    for record in make_records(task, (0.5, 0.6, 0.55)).values():
        RecordStore(workspace).write(record)
    return write_result(workspace, task, make_result(task, (0.5, 0.6, 0.55)))


def test_damaged_result_gives_errors_that_name_the_file(tmp_path: Path) -> None:
    workspace, task = Workspace(tmp_path), make_task(make_claim())
    path = store(workspace, task)
    assert check_stored(workspace, task, "smoke", None)[0].verdict == "REPRODUCED"
    path.write_text(path.read_text().replace("0.6", "0.7"))
    (row,) = check_stored(workspace, task, "smoke", None)
    assert row.verdict == "ERROR"
    assert str(path) in row.reason


def test_half_a_result_is_reported_not_overlooked(tmp_path: Path) -> None:
    workspace, task = Workspace(tmp_path), make_task(make_claim())
    assert profiles_to_check(workspace, task, None) == ["cpu"]
    store(workspace, task).unlink()
    assert profiles_to_check(workspace, task, None) == ["smoke"]
    assert check_stored(workspace, task, "smoke", None)[0].verdict == "ERROR"


def test_committed_profiles_come_before_smoke(tmp_path: Path) -> None:
    workspace, task = Workspace(tmp_path), make_task(make_claim())
    store(workspace, task)
    committed = csv_path(workspace, task, "gpu")
    committed.parent.mkdir(parents=True)
    committed.write_text("")
    assert profiles_to_check(workspace, task, None) == ["gpu"]
    assert profiles_to_check(workspace, task, "smoke") == ["smoke"]


def test_an_undecided_claim_says_what_would_decide_it() -> None:
    row = check_one(make_claim(threshold=0.6))
    assert row.verdict == "INCONCLUSIVE"
    assert row.seeds_to_decide is not None and row.seeds_to_decide > 3
    assert check_one(make_claim()).seeds_to_decide is None


def test_a_claim_with_a_factor_waits_for_a_run_that_computes_its_chance() -> None:
    claim = make_claim()
    compared = replace(claim, scope=claim.scope.comparing("x"))
    assert "is not computed: repro run" in check_one(compared).chance_reason
    apart = replace(claim, scope=claim.scope.without_null("an equivalence"))
    assert check_one(apart).chance_reason == "an equivalence"


def test_what_chance_could_do_is_counted_apart() -> None:
    row = replace(check_one(make_claim()), chance_reason="an equivalence")
    rated = replace(row, chance_reason="", chance_rate=0.01, weak=False)
    few = replace(row, chance_reason=TOO_FEW)
    old = replace(row, chance_reason=f"{NOT_COMPUTED}: run it")
    rows = [rated, replace(rated, chance_rate=0.2, weak=True), few, row, old]
    assert counted_in_words(rows) == (
        "no checks; claims: 5 reproduced (1 where chance alone gives that in at most 1 %;"
        " 1 weak, where it does in at most 20 %; 1 with too few seeds to say; 1 that no relabelling"
        " can test;"
        " 1 whose chance rate is not computed), 0 not"
    )


def test_seals_of_what_was_decided_are_counted() -> None:
    row = check_one(make_claim())
    rows = [replace(row, seal=seal) for seal in ("late", "restated", "restated", "renewed")]
    open_one = replace(row, verdict="INCONCLUSIVE", seal="changed")
    assert seals_text([*rows, open_one, replace(row, decides=False)]) == (
        "seals of 4 decided: 0 sealed, 2 restated, 1 late, 1 renewed"
    )
    assert seals_text([open_one]) == ""


def both_levels(table: pd.DataFrame) -> list[float]:
    y = float(table["y"].mean())
    return [y, y - 0.2]


def test_of_several_numbers_the_one_that_decides_is_named() -> None:
    claim = make_claim()
    several = replace(claim.criterion, quantity=both_levels, threshold=0.7)
    assert check_one(replace(claim, criterion=several)).deciding == "number 1 of 2"
    named = several.naming("at x = 0", "at x = 1")
    assert check_one(replace(claim, criterion=named)).deciding == "at x = 0"
    assert check_one(claim).deciding == ""
