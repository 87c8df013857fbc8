"""Figure 3: validation loss against density with hyperparameters transferred and not tuned."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from harness.declare import PAPER, Scope, Task, at_least, bind, claims, ordering
from reproductions.supar.models.claims import (
    OURS,
    READINGS,
    SPREAD,
    STATED,
    Row,
    dense_is_identical,
    stated,
)
from reproductions.supar.models.schemes import LABELS, NAMES
from reproductions.supar.transfer import quantities as q
from reproductions.supar.transfer import table
from reproductions.supar.transfer.experiment import transfer

LOSS = "val_loss"
WORSE = (("mup", "supar"), ("sp", "mup"))
"""Which scheme is claimed to have a larger loss than which."""
STATED_GAPS = {"sp": 0.119, "mup": 0.019}
"""At density 2^-7, abstract and section 1. The paper does not say whether they are relative to
SmuPar's loss or to the other one: relative to the other they ask more, so that is claimed."""
RANKED = replace(
    OURS,
    profiles=("cpu", "paper"),
    elsewhere="this profile lacks a density or trains too briefly",
)


def ordered(id: str, scope: Scope, halvings: tuple[int, ...], where: str) -> Row:
    """Return the claim on the order of the three schemes after so many halvings of the density."""
    densities = tuple(2.0**-k for k in halvings)
    larger = partial(q.differences, pairs=WORSE, densities=densities, value=LOSS)
    names = [f"{LABELS[a]} over {LABELS[b]} at 1/{2**k}" for k in halvings for a, b in WORSE]
    return (
        id,
        scope,
        at_least(larger, 0, "nats").naming(*names).measuring("difference in loss"),
        f"{where} SμPar has the least validation loss, μP the next and standard parameterization"
        " the largest.",
    )


def as_stated(scheme: str) -> Row:
    """Return the claim that a gap at the lowest density is the stated one, or larger."""
    gap = STATED_GAPS[scheme]
    criterion = at_least(
        partial(q.gap_at_lowest, scheme=scheme, value=LOSS, over=scheme),
        gap,
        "relative loss",
        paper_value=partial(stated, y_name="mean_gap_at_lowest_density", series=scheme, scale=0.01),
    )
    return (
        f"{scheme}_gap_as_stated",
        STATED,
        criterion,
        f"At 99.2 % sparsity SμPar's validation loss is {100 * gap:.1f} % below that of"
        f" {NAMES[scheme]}.",
    )


task = Task(
    "supar/fig03",
    reads=(transfer,),
    table=table.TRANSFER,
    claims=claims("Table 1 with m_rho = 1", dense_is_identical(x="lr"))
    + claims(
        "Figure 3 and section 4.3",
        ordered("supar_then_mup_then_sp", RANKED, (3, 4), "At densities 1/8 and 1/16"),
        ordered("same_order_when_sparser", RANKED.at(*PAPER), (5, 6, 7), "At densities below 1/16"),
        (
            "sp_gap_grows",
            OURS,
            ordering(
                partial(q.dense_and_sparse_gap, scheme="sp", value=LOSS),
                "relative loss",
                strict=True,
            ).measuring("gap to SμPar at the lowest density less that of dense nets"),
            "SμPar's lead over standard parameterization grows with sparsity.",
        ),
    )
    + claims("abstract and section 1", as_stated("sp"), as_stated("mup")),
    figure=bind(
        ".models.loss_figures:beside_readings",
        ours={"ours": LOSS},
        read="arXiv v1 as read",
        label="validation loss (nats)",
        aspect=0.85,
    ),
    caption="Left: validation loss against density, hyperparameters carried over and not tuned."
    f" {SPREAD} Right, hollow and dashed: {READINGS} Figure 3, whose SP curve the final paper"
    " replaced. Orders compare, levels do not.",
    alt="Validation loss against density for SP, μP and SμPar, ours on the left, as read from the"
    " paper's first version on the right.",
)
