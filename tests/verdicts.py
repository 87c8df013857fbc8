"""Verdicts as tests ask for them: with a positive control that holds, and in a check's words."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from harness.declare.claims import Claim
from harness.declare.criterion import at_least
from harness.declare.experiment import Row
from harness.declare.params import Params
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.declare.verdict import NO_CONTROL, Verdict, Word, evaluate
from harness.store.table_csv import build_table, validate

ALWAYS = at_least(lambda table: 1.0, 0.0, "")


def controlled(claim: Claim, table: pd.DataFrame, *, seed: str | None, profile: Profile) -> Verdict:
    """Return a claim's verdict; of one without a control, as if it had one that held."""
    verdict = evaluate(claim, table, seed=seed, profile=profile)
    if verdict.reason != NO_CONTROL:
        return verdict
    held = replace(claim, scope=claim.scope.controlled("always", ALWAYS))
    return evaluate(held, table, seed=seed, profile=profile)


def of_trial(task: Task, point: Params, rows: list[Row]) -> Word:
    """Return the verdict of a task's one claim at `smoke`, on a trial that gave some rows."""
    (experiment,), (claim,) = task.reads, task.claims
    frame = pd.DataFrame({**point.to_json(), **row, "status": "done"} for row in rows)
    table = build_table(task, {experiment.id: frame})
    assert len(validate(table, task.table, where=task.id)) == len(rows)
    return controlled(claim, table, seed=task.table.seed, profile="smoke").word


def good(claim: Claim) -> Word:
    """Return what a claim that holds reads."""
    return Word.HOLDS if claim.scope.grade == "exact" else Word.SUPPORTED


def bad(claim: Claim) -> Word:
    """Return what a claim that does not hold reads."""
    return Word.FAILS if claim.scope.grade == "exact" else Word.CONTRADICTED


def undecided(claim: Claim) -> Word:
    """Return what a claim reads that too few seeds, or no valid quantity, leave open."""
    return Word.FAILS if claim.scope.grade == "exact" else Word.UNDECIDED
