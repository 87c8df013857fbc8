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


def controlled(
    claim: Claim, table: pd.DataFrame, *, seed: str | None, profile: Profile | None = None
) -> Verdict:
    """Return a claim's verdict; of one without a control, as if it had one that held.

    profile: one that decides the claim where it is not named.
    """
    at = profile or claim.scope.profiles[0]
    verdict = evaluate(claim, table, seed=seed, profile=at)
    if verdict.reason != NO_CONTROL:
        return verdict
    held = replace(claim, scope=claim.scope.controlled("always", ALWAYS))
    return evaluate(held, table, seed=seed, profile=at)


def claim_of(task: Task, id: str) -> Claim:
    """Return a task's claim by its id."""
    (claim,) = (claim for claim in task.claims if claim.id == id)
    return claim


def decide(task: Task, claim: Claim, table: pd.DataFrame) -> Verdict:
    """Return the verdict of a task's claim on a table that may lack columns."""
    return controlled(claim, table.reindex(columns=task.table.names), seed=task.table.seed)


def judge(task: Task, claim: Claim, *, holds: pd.DataFrame, fails: pd.DataFrame) -> None:
    """See a claim hold on one table, fail on another, and open without rows or on two seeds."""
    held = decide(task, claim, holds)
    assert (held.word, held.reason) == (good(claim), "")
    assert decide(task, claim, fails).word is bad(claim)
    assert decide(task, claim, holds[:0]).word is Word.UNTESTED
    if (seed := task.table.seed) is not None:
        few = holds[holds[seed].isin(sorted(holds[seed].unique())[:2])]
        # Their controls need seeds.
        steady = Word.UNTESTED if claim.scope.control else good(claim)
        word = decide(task, claim, few).word
        assert word is (steady if claim.scope.deterministic else undecided(claim))


def of_trial(task: Task, point: Params, rows: list[Row]) -> Word:
    """Return the verdict of a task's one claim on a trial that gave some rows."""
    (experiment,), (claim,) = task.reads, task.claims
    frame = pd.DataFrame({**point.to_json(), **row, "status": "done"} for row in rows)
    table = build_table(task, {experiment.id: frame})
    assert len(validate(table, task.table, where=task.id)) == len(rows)
    return decide(task, claim, table).word


def good(claim: Claim) -> Word:
    """Return what a claim that holds reads."""
    return Word.HOLDS if claim.scope.grade == "exact" else Word.SUPPORTED


def bad(claim: Claim) -> Word:
    """Return what a claim that does not hold reads."""
    return Word.FAILS if claim.scope.grade == "exact" else Word.CONTRADICTED


def undecided(claim: Claim) -> Word:
    """Return what a claim reads that too few seeds, or no valid quantity, leave open."""
    return Word.FAILS if claim.scope.grade == "exact" else Word.UNDECIDED
