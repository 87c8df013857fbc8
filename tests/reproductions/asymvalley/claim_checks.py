"""What the tests of claims share: evaluating one, and what holds for all claims and figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.reference import load_reference
from harness.declare.task import Task
from harness.declare.verdict import Verdict
from harness.publish.figures import draw
from tests.checkout import PAPERS
from tests.verdicts import controlled

FOLDER = PAPERS / "asymvalley"


def every_claim(tasks: Mapping[str, Task]) -> list[Any]:
    """Return every claim with its task, to parametrize a test with."""
    return [
        pytest.param(task, claim, id=f"{task.id}:{claim.id}")
        for task in tasks.values()
        for claim in task.claims
    ]


def decide(task: Task, claim: Claim, table: pd.DataFrame) -> Verdict:
    """Evaluate a claim where it is decidable: at `paper`, unless it is exact and on a CPU."""
    profile = "paper" if "paper" in claim.scope.profiles else "cpu"
    table = table.reindex(columns=task.table.names)
    return controlled(claim, table, seed=task.table.seed, profile=profile)


def check_profiles(claim: Claim) -> None:
    """Assert that exact claims are decided at smoke, the others at cpu or by the paper's number."""
    assert claim.scope.deterministic == (claim.scope.grade == "exact")
    assert ("smoke" in claim.scope.profiles) == (claim.scope.grade == "exact")
    if claim.scope.grade == "exact":
        return
    assert claim.scope.elsewhere
    if claim.scope.threshold_from == "paper":
        assert claim.scope.profiles == ("paper",)
    else:
        assert claim.scope.profiles == ("cpu", "gpu", "paper")
        assert claim.scope.threshold_from == "calibration" or claim.scope.deviation == "DEV-08"


def check_figure(task: Task, table: pd.DataFrame) -> None:
    """Assert that a figure draws within one column and with one seed.

    The smoke run draws the double width, with the seeds that it has.
    """
    reference = load_reference(FOLDER, task.id.split("/")[1])
    one = table[table["seed"] == 0]
    assert draw(task, table=one, reference=reference, profile="smoke", width="single")
