"""What several figures say: their claims on optima and transfer, and sentences of their captions.

Each function gives rows for `claims`: id, scope, criterion, statement.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare import (
    CHECK,
    PAPER,
    SMOKE_AND_CPU,
    Criterion,
    Scope,
    at_least,
    at_most,
    equal,
    more_than,
    ours,
)
from harness.declare.reference import published
from reproductions.supar.models.optima import (
    extra_transfer_losses,
    largest_dense_difference,
    optimum_distance,
    optimum_shift,
    transfer_loss,
)
from reproductions.supar.models.schemes import LABELS, NAMES

if TYPE_CHECKING:
    import pandas as pd

Row = tuple[str, Scope, Criterion, str]

SPREAD = "Mean over seeds; bars show its standard error."
CURVES = (
    f"{SPREAD} A ring marks the least mean loss of a line, unless it lies at the line's end; the"
    " vertical line is that of the dense net. Steep ends are cut off."
)
READINGS = "readings of the paper's arXiv v1"
OTHER_LEVEL = "Shapes compare, levels do not."
NOT_PUBLISHED = "The paper's curves are not published as numbers."
OURS = ours(
    "DEV-17",
    elsewhere="20 steps and two densities show the structure, not where an optimum lies",
)
"""Trained nets, and a threshold of ours."""
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
    elsewhere="CUDA adds in no fixed order, so losses need not be equal there",
)
SWEPT = {"log2_lr": "learning rate", "log2_sigma": "initial standard deviation"}
RISE = "rise from dense to the lowest density"
"""What is measured of an optimum that moves up."""


def stated(
    reference: pd.DataFrame,
    *,
    y_name: str,
    series: str,
    x: float | None = None,
    scale: float = 1.0,
) -> float | None:
    """Return a number the paper states, times `scale`; None if none stands as the paper's.

    x: of a row that holds at one point, to a thousandth; None for one that holds for all.
    """
    rows = published(reference)
    rows = rows[(rows["y_name"] == y_name) & (rows["series"] == series)]
    rows = rows[rows["x"].isna() if x is None else (rows["x"] - x).abs() <= 1e-3 * x]
    return next((float(value) * scale for value in rows["value"].dropna()), None)


def dense_is_identical(*, x: str = "log2_lr") -> Row:
    """Return the check that SmuPar is muP at density 1.

    x: the column, beside the seed, that compared runs share.
    """
    difference = partial(largest_dense_difference, schemes=("supar", "mup"), x=x)
    return (
        "dense_identical",
        ON_A_CPU,
        equal(difference, 0, "nats"),
        "Dense nets have the same loss under SμPar as under μP.",
    )


def stays(*, x: str = "log2_lr") -> Row:
    """Return the claim that SmuPar's optimum stays within one step of the grid."""
    return (
        "supar_stays",
        OURS,
        at_most(partial(optimum_distance, scheme="supar", x=x), 1, "octaves").measuring(
            "move from dense to the lowest density"
        ),
        f"Under SμPar the optimal {SWEPT[x]} stays where it is as nets get sparser.",
    )


def moves(scheme: str) -> Row:
    """Return the claim that a scheme's optimal rate rises by two steps."""
    return (
        f"{scheme}_moves",
        OURS,
        at_least(partial(optimum_shift, scheme=scheme), 2, "octaves").measuring(RISE),
        f"Under {NAMES[scheme]} the optimal learning rate rises as nets get sparser.",
    )


def transfers(*, x: str = "log2_lr") -> Row:
    """Return the claim that SmuPar loses nothing with the dense model's best value."""
    return (
        "supar_transfers",
        OURS,
        at_most(partial(transfer_loss, scheme="supar", x=x), 0.01, "relative loss").measuring(
            "loss with the dense net's value over the least one"
        ),
        f"SμPar's sparsest net trains as well with the dense net's best {SWEPT[x]} as with its"
        " own.",
    )


def costs_more(*schemes: str, x: str = "log2_lr") -> tuple[Scope, Criterion]:
    """Return what is asked where the dense model's best value costs schemes more than SmuPar."""
    extra = partial(extra_transfer_losses, schemes=schemes, x=x)
    asked = more_than(extra, 0, "relative loss").naming(*(LABELS[scheme] for scheme in schemes))
    return OURS, asked.measuring("its cost less SμPar's")


def rivals_cost_more(*, x: str = "log2_lr") -> Row:
    """Return the claim that the dense model's best value costs SP and muP more than SmuPar."""
    return (
        "sp_and_mup_cost_more",
        *costs_more("sp", "mup", x=x),
        f"The dense net's best {SWEPT[x]} costs the sparsest nets of SP and μP more than SμPar's.",
    )
