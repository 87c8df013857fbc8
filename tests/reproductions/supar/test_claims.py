"""Every claim of this paper, on tables where it holds, fails, and has too few seeds."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.registry import load_registry
from tests.reproductions.supar.hand_made import TABLES, curves
from tests.verdicts import claim_of, decide, judge

LIBRARY = load_registry(["supar"])
TASKS = {name: LIBRARY.tasks[name] for name in TABLES}
EVERY_CLAIM = [
    pytest.param(task, claim, id=f"{task.id}:{claim.id}")
    for task in TASKS.values()
    for claim in task.claims
]


@pytest.mark.parametrize(("task", "claim"), EVERY_CLAIM)
def test_claim_holds_and_fails_on_tables_made_for_it(task: Task, claim: Claim) -> None:
    judge(task, claim, holds=TABLES[task.id](True), fails=TABLES[task.id](False))
    assert not decide(task, claim, TABLES[task.id](False)).reason


def test_methods_of_figure_12_are_told_apart() -> None:
    task = TASKS["supar/fig12"]
    table = pd.concat(
        curves({"sp": drift, "mup": drift}, method=method)
        for method, drift in (("gmp", 1.0), ("rigl", -1.0))
    )
    for method, expected in (("gmp", Word.SUPPORTED), ("rigl", Word.CONTRADICTED)):
        claim = claim_of(task, f"{method}_sp_and_mup_rise")
        assert decide(task, claim, table).word is expected
