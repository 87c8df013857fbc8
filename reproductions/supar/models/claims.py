"""What several figures say: their claims on optima and transfer, and sentences of their captions.

Each function gives rows for `claims`: id, scope, criterion, statement.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    dense_losses_over,
    extra_transfer_losses,
    largest_dense_difference,
    optimum_distance,
    rise_per_halving,
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
BIGRAM = {"kjv": 2.26, "tinyshakespeare": 2.46, "slimpajama": 4.5}
"""Loss of a model that knows how often each character follows each, in nats a character; of
SlimPajama in nats a token, over what the paper's smallest dense nets reach."""
UNIGRAM = {"kjv": 3.02, "tinyshakespeare": 3.31, "slimpajama": 10.0}
"""The same of a model that knows how often each character comes; the paper's nets of 100 steps
have losses of up to 10 nats a token."""


def learned(scope: Scope, *, past: Mapping[str, float], model: str) -> Scope:
    """Return a scope whose positive control is that dense nets learned more than a simple model."""
    return scope.controlled(
        f"at their best, dense nets of every scheme have at most the loss of a {model} model",
        at_most(partial(dense_losses_over, known=past), 0, "nats").measuring("loss over it"),
    )


TRAINED = ours(
    "DEV-17",
    elsewhere="20 steps and two densities show the structure, not where an optimum lies",
)
OURS = learned(TRAINED, past=BIGRAM, model="bigram")
"""Trained nets, and a threshold of ours."""
EARLY = learned(TRAINED, past=UNIGRAM, model="unigram")
"""The same of nets whose loss is taken early, as the paper does for initial deviations."""
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


def scope_of(x: str) -> Scope:
    """Return the scope of claims on a sweep: that of a deviation looks at early losses."""
    return OURS if x == "log2_lr" else EARLY


def stays(*, x: str = "log2_lr") -> Row:
    """Return the claim that SmuPar's optimum stays within one step of the grid."""
    return (
        "supar_stays",
        scope_of(x),
        at_most(partial(optimum_distance, scheme="supar", x=x), 1, "octaves").measuring(
            "move from dense to the lowest density"
        ),
        f"Under SμPar the optimal {SWEPT[x]} stays where it is as nets get sparser.",
    )


def moves(scheme: str) -> Row:
    """Return the claim that a scheme's optimal rate rises by half of what theory lets it."""
    rise = partial(rise_per_halving, scheme=scheme)
    return (
        f"{scheme}_moves",
        OURS,
        at_least(rise, 0.5, "octaves a halving").measuring(f"{RISE}, over halvings"),
        f"Under {NAMES[scheme]} the optimal learning rate rises as nets get sparser.",
    )


def transfers(*, x: str = "log2_lr") -> Row:
    """Return the claim that SmuPar loses nothing with the dense model's best value."""
    return (
        "supar_transfers",
        scope_of(x),
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
    return scope_of(x), asked.measuring("its cost less SμPar's")


def rivals_cost_more(*, x: str = "log2_lr") -> Row:
    """Return the claim that the dense model's best value costs SP and muP more than SmuPar."""
    return (
        "sp_and_mup_cost_more",
        *costs_more("sp", "mup", x=x),
        f"The dense net's best {SWEPT[x]} costs the sparsest nets of SP and μP more than SμPar's.",
    )
