"""The paper's tasks and claims as its tests ask for them, and a claim's verdict on a table."""

from __future__ import annotations

import pandas as pd

from harness.declare.claims import Claim
from harness.declare.task import Task
from harness.declare.verdict import Verdict
from harness.registry import load_registry
from tests import verdicts

LIBRARY = load_registry({"asymvalley"})
TASKS: dict[str, Task] = {task.word: task for task in LIBRARY.tasks.values()}


def named(address: str) -> tuple[Task, Claim]:
    """Return a task and its claim, as `fig03:one_centre`."""
    word, _, id = address.partition(":")
    return TASKS[word], verdicts.claim_of(TASKS[word], id)


def decide(address: str, table: pd.DataFrame) -> Verdict:
    """Return a claim's verdict."""
    return verdicts.decide(*named(address), table)
