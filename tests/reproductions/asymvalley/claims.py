"""The paper's tasks and claims as its tests ask for them, and a claim's verdict on a table."""

from __future__ import annotations

import pandas as pd

from harness.declare.claims import Claim
from harness.declare.task import Task
from harness.declare.verdict import Verdict
from harness.registry import load_registry
from tests.checkout import PAPERS
from tests.verdicts import controlled

FOLDER = PAPERS / "asymvalley"
LIBRARY = load_registry({"asymvalley"})
TASKS: dict[str, Task] = {task.word: task for task in LIBRARY.tasks.values()}


def named(address: str) -> tuple[Task, Claim]:
    """Return a task and its claim, as `fig03:one_centre`."""
    word, _, id = address.partition(":")
    (claim,) = (claim for claim in TASKS[word].claims if claim.id == id)
    return TASKS[word], claim


def decide(address: str, table: pd.DataFrame) -> Verdict:
    """Evaluate a claim where it is decidable: at `paper`, unless it is exact and on a CPU."""
    task, claim = named(address)
    profile = "paper" if "paper" in claim.scope.profiles else "cpu"
    table = table.reindex(columns=task.table.names)
    return controlled(claim, table, seed=task.table.seed, profile=profile)
