"""Figure 8: loss against density when each scheme picks its best learning rate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from harness.declare import Scope, Task, at_least, claims
from reproductions.supar.models.claims import OURS, STATED, Row
from reproductions.supar.models.printed import stated
from reproductions.supar.models.schemes import NAMES
from reproductions.supar.sweeps import table
from reproductions.supar.sweeps.experiment import lr_sweep
from reproductions.supar.sweeps.quantities import mean_gap

RANKED = replace(OURS, elsewhere="20 steps and two densities do not rank schemes")
WHERE = "Figure 8 and section 4.1"
STATED_GAPS = {"sp": 0.008, "mup": 0.021}


def gap(scheme: str, word: str, scope: Scope, densest: float, bound: float, phrase: str) -> Row:
    """Return a claim on the mean gap of a scheme to SmuPar over densities up to `densest`."""
    published = partial(stated, y_name="mean_gap", series=scheme, scale=0.01)
    criterion = at_least(
        partial(mean_gap, scheme=scheme, densest=densest),
        bound,
        "relative loss",
        paper_value=published if densest == 1.0 else None,
    ).measuring(f"how far {NAMES[scheme]}'s loss lies above SμPar's")
    return f"{scheme}_gap{word}", scope, criterion, phrase.format(NAMES[scheme])


def nearly(scheme: str) -> Iterator[Row]:
    """Yield the claims with slack: with the dense point, and without it."""
    yield gap(
        scheme, "", RANKED, 1.0, -0.005,
        "Each at its best learning rate, SμPar's loss is on average over densities at most 0.5 %"
        " above that of {}. It has the number of the claim on the direction, with slack.",
    )  # fmt: skip
    yield gap(
        scheme, "_sparse", RANKED, 0.5, -0.005,
        "Each at its best learning rate, SμPar's loss is on average over densities, the dense one"
        " left out, at most 0.5 % above that of {}.",
    )  # fmt: skip


def positive(scheme: str) -> Row:
    """Return the claim on the direction of the gap."""
    return gap(
        scheme, "_positive", RANKED, 1.0, 0.0,
        "Each at its best learning rate, SμPar's loss is on average over densities below that of"
        " {}.",
    )  # fmt: skip


def as_stated(scheme: str) -> Row:
    """Return the claim that the gap is the one that the paper states."""
    phrase = f"On average over densities SμPar's best loss is {STATED_GAPS[scheme]:.1%} below that"
    return gap(scheme, "_as_stated", STATED, 1.0, STATED_GAPS[scheme], phrase + " of {}, or more.")


task = Task(
    "supar/fig08",
    reads=(lr_sweep,),
    table=table.BEST,
    claims=claims(WHERE, *nearly("sp"), positive("sp"))
    + claims("section 4.1", as_stated("sp"))
    + claims(WHERE, positive("mup"))
    + claims("section 4.1", as_stated("mup")),
    figure=".models.loss_figures:best_loss_panels",
    caption="Loss against density at the learning rate with the least validation loss, chosen per"
    " scheme, density and seed from equally many candidates: mean over seeds, bars show its"
    " standard error. Train loss is the paper's measure; test loss is on text that chose nothing."
    " Hollow and dashed: best losses among the readings of arXiv v1 Figure 1 (no μP there), on an"
    " axis of their own.",
    alt="Train loss and test loss against density for SP, μP and SμPar at their best learning"
    " rates, beside the best losses read from the paper's first version.",
)
