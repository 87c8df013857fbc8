"""What tests of claims on tables made by hand share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from harness.declare.claims import Claim
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.declare.verdict import Verdict
from tests.checkout import PAPERS
from tests.verdicts import controlled

if TYPE_CHECKING:
    import pandas as pd

Case = Literal["holds", "fails"]
FOLDER = PAPERS / "lisa"


def decide(
    task: Task, claim: Claim, table: pd.DataFrame, profile: Profile | None = None
) -> Verdict:
    """Return a claim's verdict, by default at the largest profile that decides it."""
    at = profile or claim.scope.profiles[-1]
    return controlled(claim, table, seed=task.table.seed, profile=at)


def claim_of(task: Task, id: str) -> Claim:
    """Return a task's claim by its id."""
    (claim,) = (claim for claim in task.claims if claim.id == id)
    return claim
