"""Check rows: verdict, seal state, and what must fail a build."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from harness.check import CheckRow, check_stored, check_task, profiles_to_check
from harness.claims import Claim
from harness.results import NotRun, SealMeta, TaskResult, TrialCounts, csv_path, write_result
from harness.seals import seal
from harness.task import Task
from harness.workspace import Workspace

from .hand_made import crash, make_claim, make_result, make_task, mean


def check_one(
    claim: Claim,
    *,
    sealed: Claim | None = None,
    ys: tuple[float, ...] = (0.5, 0.6, 0.55),
    reference: pd.DataFrame | None = None,
    **changes: Any,
) -> CheckRow:
    """Check one claim on a table whose records carry the seal of `sealed`."""
    task = make_task(claim)
    table, meta = make_result(task, list(ys), sealed=make_task(sealed or claim), **changes)
    (row,) = check_task(task, TaskResult(table, meta, Path("x.csv")), "smoke", reference)
    return row


def test_claim_that_holds() -> None:
    row = check_one(make_claim())
    assert (row.verdict, row.seal, row.num_seeds, row.sealed_threshold) == (
        "REPRODUCED", "sealed", 3, None,
    )  # fmt: skip
    assert row.measured == pytest.approx(0.55)
    assert row.low < row.measured < row.high  # type: ignore[operator]


def test_moved_threshold_shows_as_changed_with_the_old_one() -> None:
    row = check_one(make_claim(threshold=2.0), sealed=make_claim(threshold=0.1))
    assert (row.seal, row.threshold, row.sealed_threshold) == ("changed", 2.0, 0.1)


def test_moved_infinite_threshold_shows_as_changed() -> None:
    old = make_claim(form="within", threshold=(-math.inf, 1.0))
    row = check_one(make_claim(form="within", threshold=(0.0, math.inf)), sealed=old)
    assert (row.seal, row.sealed_threshold, row.threshold) == (
        "changed", ["-inf", 1.0], [0.0, "inf"],
    )  # fmt: skip
    json.dumps(row.to_json(), allow_nan=False)


def test_other_quantity_under_the_same_threshold_shows_as_changed() -> None:
    def median(table: pd.DataFrame) -> float:
        return float(table["y"].median())

    row = check_one(make_claim(), sealed=make_claim(quantity=median))
    assert (row.seal, row.sealed_threshold) == ("changed", 1.0)


def test_claim_that_came_after_the_runs_is_late() -> None:
    assert check_one(make_claim(), seals={}).seal == "late"


def test_claim_that_came_between_two_runs_is_late() -> None:
    some = [SealMeta(**seal(make_claim()).to_json(), num_records=2)]
    assert check_one(make_claim(), seals={"demo/tab01:c": some}).seal == "late"


def test_one_record_with_another_seal_is_enough() -> None:
    claims = (make_claim(), make_claim(threshold=9.0))
    both = [
        SealMeta(**seal(c).to_json(), num_records=n) for c, n in zip(claims, (2, 1), strict=True)
    ]
    assert check_one(make_claim(), seals={"demo/tab01:c": both}).seal == "changed"


def test_task_without_a_result_was_not_run_and_says_how() -> None:
    (row,) = check_task(make_task(make_claim()), None, "smoke", None)
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
    (row,) = check_task(make_task(make_claim()), None, "gpu", None)
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


def test_paper_value_that_raises_is_an_error_not_a_crash() -> None:
    claim = make_claim(paper_value=paper_value)
    row = check_one(claim, reference=pd.DataFrame({"status": ["exact"]}))
    assert (row.verdict, row.paper_value, row.fails) == ("ERROR", None, True)
    assert "KeyError" in row.reason


def store(workspace: Workspace, task: Task) -> Path:
    table, meta = make_result(task, [0.5, 0.6, 0.55])
    return write_result(workspace, task, table, meta)


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
