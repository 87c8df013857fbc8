"""Verdicts as tests ask for them: with a positive control that holds, and in a check's words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.criterion import at_least
from harness.declare.profiles import Profile
from harness.declare.verdict import NO_CONTROL, Verdict, Word, evaluate

if TYPE_CHECKING:
    import pandas as pd

ALWAYS = at_least(lambda table: 1.0, 0.0, "")


def controlled(claim: Claim, table: pd.DataFrame, *, seed: str | None, profile: Profile) -> Verdict:
    """Return a claim's verdict; of one without a control, as if it had one that held."""
    verdict = evaluate(claim, table, seed=seed, profile=profile)
    if verdict.reason != NO_CONTROL:
        return verdict
    held = replace(claim, scope=claim.scope.controlled("always", ALWAYS))
    return evaluate(held, table, seed=seed, profile=profile)


def good(claim: Claim) -> Word:
    """Return what a claim that holds reads."""
    return Word.HOLDS if claim.scope.grade == "exact" else Word.SUPPORTED


def bad(claim: Claim) -> Word:
    """Return what a claim that does not hold reads."""
    return Word.FAILS if claim.scope.grade == "exact" else Word.CONTRADICTED


def undecided(claim: Claim) -> Word:
    """Return what a claim reads that too few seeds, or no valid quantity, leave open."""
    return Word.FAILS if claim.scope.grade == "exact" else Word.UNDECIDED
