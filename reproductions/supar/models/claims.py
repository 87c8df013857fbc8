"""Claims that several figures make: where an optimum lies, and what its transfer costs.

Each function gives rows for `claims`: id, scope, criterion, statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from harness.declare import (
    CHECK,
    PAPER,
    SMOKE_AND_CPU,
    Criterion,
    Scope,
    at_least,
    at_most,
    equal,
    ordering,
    ours,
)
from reproductions.supar.models.optima import (
    largest_dense_difference,
    optimum_distance,
    optimum_shift,
    transfer_loss,
    transfer_losses,
)
from reproductions.supar.models.schemes import NAMES

Row = tuple[str, Scope, Criterion, str]

OURS = ours(
    "DEV-17",
    elsewhere="20 steps and two densities show the structure, not where an optimum lies",
)
"""Trained nets, and a bound of ours."""
STATED = Scope(
    grade="empirical",
    threshold_from="paper",
    profiles=PAPER,
    elsewhere="the number belongs to the paper's own model, data and densities",
)
"""A number that the paper states."""
NEARLY_STATED = ours("DEV-17", profiles=PAPER, elsewhere=STATED.elsewhere)
"""A number that the paper states, and how near it is enough, which is ours."""
ON_A_CPU = CHECK.at(
    *SMOKE_AND_CPU,
    elsewhere="CUDA kernels add in no fixed order, so equality is not promised there",
)
OF_FIGURE_6 = " It is the number of Figure 6, from the same runs."
SWEPT = {"log2_lr": "learning rate", "log2_sigma": "initial standard deviation"}


def dense_is_identical(at: str, *, x: str = "log2_lr") -> Row:
    """Return the check that SmuPar is muP at density 1.

    at: what the compared runs share; x: its column, beside the seed.
    """
    difference = partial(largest_dense_difference, schemes=("supar", "mup"), x=x)
    return (
        "dense_identical",
        ON_A_CPU,
        equal(difference, 0, "nats"),
        f"Dense, SμPar and μP are one model: equal losses at every {at}.",
    )


def stays(*, x: str = "log2_lr", beside: str = "") -> Row:
    """Return the claim that SmuPar's optimum stays within one step of the grid.

    beside: a sentence that ends the statement.
    """
    return (
        "supar_stays",
        OURS,
        at_most(partial(optimum_distance, scheme="supar", x=x), 1, "octaves"),
        f"Under SμPar the optimal {SWEPT[x]} moves by at most one factor-2 step from dense to the"
        f" lowest density.{beside}",
    )


def moves(*schemes: str) -> Iterator[Row]:
    """Yield the claims that each scheme's optimal rate rises by two steps."""
    for scheme in schemes:
        yield (
            f"{scheme}_moves",
            OURS,
            at_least(partial(optimum_shift, scheme=scheme), 2, "octaves"),
            f"Under {NAMES[scheme]} the optimal learning rate rises by at least two factor-2 steps"
            " from dense to the lowest density.",
        )


def transfers(*, x: str = "log2_lr") -> Row:
    """Return the claim that SmuPar loses nothing with the dense model's best value."""
    return (
        "supar_transfer",
        OURS,
        at_most(partial(transfer_loss, scheme="supar", x=x), 0.01, "relative loss"),
        f"At the lowest density, SμPar at the dense model's best {SWEPT[x]} is within 1 % of its"
        " own best loss.",
    )


def transfers_are_dearer(*schemes: str, x: str = "log2_lr") -> Iterator[Row]:
    """Yield the claims that the dense model's best value costs each scheme more than SmuPar."""
    for scheme in schemes:
        losses = partial(transfer_losses, schemes=("supar", scheme), x=x)
        yield (
            f"{scheme}_transfer_dearer",
            OURS,
            ordering(losses, "relative loss", strict=True).measuring(
                f"cost under {NAMES[scheme]} less that under SμPar"
            ),
            f"At the lowest density, training at the dense model's best {SWEPT[x]} costs more"
            f" under {NAMES[scheme]} than under SμPar.",
        )
