"""Pilots of continual pre-training: validation problems solved at every learning rate."""

from harness.declare import Cell, Layout, Line, Task, claims
from reproductions.lisa.continual import table
from reproductions.lisa.continual.experiment import BEYOND, GAMMAS, LRS, RATES, pilots
from reproductions.lisa.models.rates import asked_of_rates, mark

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
    claims=claims("ours, on the choice of rates", asked_of_rates(RATES, "gamma")),
    figure="figures:rates",
    caption="Validation problems that the in-house model solves after both stages, against the"
    " learning rate, at seeds that no other run has: each method's later runs have the rate at"
    " which it solves most. Bars: standard error.",
    alt="Share of validation problems solved against learning rate, one line per method.",
)
