"""Claims that Table 2 and its substitute both make; rows for `claims`."""

from __future__ import annotations

from harness.declare import CHECK, SMOKE_AND_CPU, Scope, at_least, equal, ordering
from reproductions.supar.downstream import quantities as q
from reproductions.supar.models.claims import Row

WHERE_DENSE = "Table 2, sparsity 0, and Table 1 with m_rho = 1"
DENSE_IS_EQUAL: Row = (
    "dense_identical",
    CHECK.at(
        *SMOKE_AND_CPU,
        elsewhere="checkpoints handed in come from runs of which we know nothing",
    ),
    equal(q.largest_dense_difference, 0, "accuracy"),
    "Dense, SμPar and μP are one model: equal accuracy on every task and seed.",
)


def supar_is_best(scope: Scope) -> Row:
    """Return the claim that SmuPar's average is within 0.01 of the best at high sparsity."""
    return (
        "supar_best",
        scope,
        at_least(q.leads, -0.01, "accuracy"),
        "At density 1/16 and below, SμPar's average accuracy is no more than 0.01 below the better"
        " of SP's and μP's.",
    )


SUBSTITUTE = "On our substitute for Table 2, not on the paper's tasks: at"
"""How a claim begins that the paper does not make in this form."""


def sp_is_nearer_to_random(scope: Scope, at: str = "At") -> Row:
    """Return the claim that SP is closer to guessing than SmuPar at the lowest density."""
    return (
        "sp_nearer_to_random",
        scope,
        ordering(q.margins_over_random, "accuracy", strict=True).measuring(
            "accuracy of SμPar less that of SP"
        ),
        f"{at} the lowest density, SP's average accuracy exceeds guessing by less than"
        " SμPar's does.",
    )


def supar_beats_mup(scope: Scope, at: str) -> Row:
    """Return the claim that SmuPar is above muP at the lowest density."""
    return (
        "supar_above_mup",
        scope,
        ordering(q.mup_and_supar, "accuracy", strict=True).measuring(
            "accuracy of SμPar less that of μP"
        ),
        f"{at} the lowest density, SμPar's average accuracy is above μP's.",
    )
