"""The words of a verdict, by whether a claim is a check."""

from __future__ import annotations

from harness.declare.claims import Claim
from harness.declare.verdict import Word


def good(claim: Claim) -> Word:
    """Return what a claim that holds reads."""
    return Word.HOLDS if claim.scope.grade == "exact" else Word.REPRODUCED


def bad(claim: Claim) -> Word:
    """Return what a claim that does not hold reads."""
    return Word.FAILS if claim.scope.grade == "exact" else Word.NOT_REPRODUCED


def undecided(claim: Claim) -> Word:
    """Return what a claim reads that too few seeds, or no valid quantity, leave open."""
    return Word.FAILS if claim.scope.grade == "exact" else Word.INCONCLUSIVE
