"""Figure 8: loss against density when each scheme picks its best learning rate."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from harness.declare import Scope, Task, at_least, bind, claims
from reproductions.supar.models.claims import (
    OTHER_LEVEL,
    OURS,
    READINGS,
    SPREAD,
    STATED,
    Row,
    stated,
)
from reproductions.supar.models.schemes import NAMES
from reproductions.supar.sweeps import table
from reproductions.supar.sweeps.experiment import lr_sweep
from reproductions.supar.sweeps.quantities import mean_gap

RANKED = replace(OURS, elsewhere="20 steps and two densities do not rank schemes")
STATED_GAPS = {"sp": 0.008, "mup": 0.021}


def gap(scheme: str, id: str, scope: Scope, bound: float, statement: str) -> Row:
    """Return a claim on the mean gap of a scheme to SmuPar over densities."""
    criterion = at_least(
        partial(mean_gap, scheme=scheme),
        bound,
        "relative loss",
        paper_value=partial(stated, y_name="mean_gap", series=scheme, scale=0.01),
    ).measuring("the other's loss over SμPar's")
    return id, scope, criterion, statement


def below(scheme: str) -> Row:
    """Return the claim on the direction of the gap."""
    return gap(
        scheme, f"supar_below_{scheme}", RANKED, 0.0,
        "Each at its best learning rate, SμPar's loss is on average below that of"
        f" {NAMES[scheme]}.",
    )  # fmt: skip


def as_stated(scheme: str) -> Row:
    """Return the claim that the gap is the one that the paper states."""
    return gap(
        scheme, f"{scheme}_gap_as_stated", STATED, STATED_GAPS[scheme],
        f"SμPar's best loss is on average {100 * STATED_GAPS[scheme]:.1f} % below that of"
        f" {NAMES[scheme]}.",
    )  # fmt: skip


task = Task(
    "supar/fig08",
    reads=(lr_sweep,),
    table=table.BEST,
    claims=claims("Figure 8 and section 4.1", below("sp"), below("mup"))
    + claims("section 4.1", as_stated("sp"), as_stated("mup")),
    figure=bind(
        ".models.loss_figures:beside_readings",
        ours={"train loss, ours": "train_loss", "test loss, ours": "test_loss"},
        read="train loss, arXiv v1 as read",
        label="loss at the chosen rate (nats)",
        aspect=1.05,
    ),
    caption="Loss against density at the learning rate of least validation loss, chosen per scheme,"
    f" density and seed from equally many candidates. {SPREAD} Train loss is the paper's measure;"
    f" test loss is on text that chose nothing. Hollow and dashed: best losses among {READINGS}"
    f" Figure 1 (no μP there), on an axis of their own. {OTHER_LEVEL}",
    alt="Train loss and test loss against density for SP, μP and SμPar at their best learning"
    " rates, beside the best losses read from the paper's first version.",
)
