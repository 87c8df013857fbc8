"""Every claim on tables made by hand: where it holds, where it fails, what decides nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.task import Task
from harness.declare.verdict import Word
from tests.reproductions.lisa.compared import test_claims as compared
from tests.reproductions.lisa.continual import test_trial as continual
from tests.reproductions.lisa.facts import test_facts as facts
from tests.reproductions.lisa.finetuning import test_claims as finetuning
from tests.reproductions.lisa.lm_benchmarks import test_table as lm_benchmarks
from tests.reproductions.lisa.made import Case
from tests.reproductions.lisa.memory import test_claims as memory
from tests.reproductions.lisa.mt_bench import test_claims as mt_bench
from tests.reproductions.lisa.norms import test_claims as norms
from tests.reproductions.lisa.step_time import test_timing as step_time
from tests.reproductions.lisa.theory import test_trial as theory
from tests.verdicts import decide, judge

STUDIES = (
    compared, continual, facts, finetuning, lm_benchmarks, memory, mt_bench, norms,
    step_time, theory,
)  # fmt: skip
MAKERS: dict[str, Callable[[Task, Case], pd.DataFrame]] = {
    task.id: study.table_of for study in STUDIES for task in study.TASKS
}
"""Each returns a task's table that is made for its claims to hold on, or to fail."""
CLAIMS = [
    pytest.param(task, claim, id=f"{task.id}:{claim.id}")
    for study in STUDIES
    for task in study.TASKS
    for claim in task.claims
]


@cache
def table_of(task: Task, case: Case) -> pd.DataFrame:
    return MAKERS[task.id](task, case)


@pytest.mark.parametrize(("task", "claim"), CLAIMS)
def test_claim_holds_and_fails_and_needs_five_seeds(task: Task, claim: Claim) -> None:
    holds, fails = table_of(task, "holds"), table_of(task, "fails")
    judge(task, claim, holds=holds, fails=fails)


OF_EACH_ROW = "count_is_near_the_peak"
"""It compares no methods."""


@pytest.mark.parametrize(
    ("task", "claim"),
    [
        case
        for case in CLAIMS
        if case.values[1].scope.grade == "empirical" and case.values[1].id != OF_EACH_ROW  # type: ignore[attr-defined]
    ],
)
def test_without_a_method_that_it_compares_a_claim_is_untested(task: Task, claim: Claim) -> None:
    table = table_of(task, "holds")
    lacking = [table[table["method"] != name] for name in table["method"].unique()]
    assert Word.UNTESTED in {decide(task, claim, rows).word for rows in lacking}
