"""Figure 8: loss against density when each scheme picks its best learning rate."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from harness.declare import Criterion, Task, at_least, bind, claims
from reproductions.supar.models.claims import (
    OTHER_LEVEL,
    OURS,
    READINGS,
    SPREAD,
    STATED,
    stated,
)
from reproductions.supar.models.schemes import NAMES
from reproductions.supar.sweeps.experiment import lr_sweep
from reproductions.supar.sweeps.quantities import mean_gap
from reproductions.supar.sweeps.table import BEST

RANKED = replace(OURS, elsewhere="20 steps and two densities do not rank schemes")
STATED_GAPS = {"sp": 0.008, "mup": 0.021}


def gap(scheme: str, asked: float) -> Criterion:
    """Ask for a mean gap of a scheme to SmuPar over densities, beside the one that is stated."""
    mean = partial(mean_gap, scheme=scheme)
    printed = partial(stated, y_name="mean_gap", series=scheme, scale=0.01)
    asked_of = at_least(mean, asked, "relative loss", paper_value=printed)
    return asked_of.measuring("the other's loss over SμPar's")


task = Task(
    "supar/fig08",
    reads=(lr_sweep,),
    table=BEST,
    claims=claims(
        "Figure 8 and section 4.1",
        *(
            (
                f"supar_below_{scheme}",
                RANKED,
                gap(scheme, 0.0),
                "Each at its best learning rate, SμPar's loss is on average below that of"
                f" {NAMES[scheme]}.",
            )
            for scheme in STATED_GAPS
        ),
    )
    + claims(
        "section 4.1",
        *(
            (
                f"{scheme}_gap_as_stated",
                STATED,
                gap(scheme, asked),
                f"SμPar's best loss is on average {100 * asked:.1f} % below that of"
                f" {NAMES[scheme]}.",
            )
            for scheme, asked in STATED_GAPS.items()
        ),
    ),
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
