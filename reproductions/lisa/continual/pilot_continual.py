"""Pilots of continual pre-training: validation problems solved at every learning rate."""

from __future__ import annotations

from functools import partial

from harness.declare import CHECK, CPU, Cell, Layout, Line, Task, claims, equal
from reproductions.lisa.continual import table
from reproductions.lisa.continual.experiment import BEYOND, GAMMAS, LRS, RATES, pilots
from reproductions.lisa.finetuning.experiment import other_rates
from reproductions.lisa.models.rates import mark

TRIED = sorted({*LRS, *(lr for rates in BEYOND.values() for lr in rates)})
task = Task(
    "lisa/pilot_continual",
    own_kind="ablation",
    reads=(pilots,),
    table=table.PILOTS,
    layout=Layout(
        rows=(
            Line("full", where={"method": "full"}),
            *(Line(f"LISA, gamma = {gamma}", where={"gamma": gamma}) for gamma in GAMMAS),
        ),
        columns=tuple(Line(f"{lr:g}", group="learning rate", where={"lr": lr}) for lr in TRIED),
        cell=Cell("validation_accuracy", unit="%", scale=0.01, digits=1, remark=mark),
        title="Validation problems solved by learning rate",
        notes=(
            "Two seeds that no other run has. Where a method's best rate was the least or the"
            " greatest of those tried, further ones were.",
        ),
        ours=True,
    ),
    claims=claims(
        "ours, on the choice of rates",
        (
            "runs_have_these_rates",
            CHECK.at(*CPU, elsewhere="pilots of a tiny model choose nothing"),
            equal(partial(other_rates, rates=RATES, by="gamma"), 0, "methods").measuring(
                "methods that run at another rate"
            ),
            "Every method runs at the rate that its pilots chose.",
        ),
    ),
    figure="figures:rates",
    caption="Validation problems that the in-house model solves after both stages, against the"
    " learning rate, at seeds that no other run has: each method's later runs have the rate at"
    " which it solves most. Bars: standard error.",
    alt="Share of validation problems solved against learning rate, one line per method.",
)
