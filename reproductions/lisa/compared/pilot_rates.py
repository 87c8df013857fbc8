"""Pilots on SmolLM2: validation loss of every method at every learning rate."""

from harness.declare import Cell, Layout, Line, Task, claims
from reproductions.lisa.compared import table
from reproductions.lisa.compared.experiment import BEYOND, CANDIDATES, RATES, TUNED, pilots
from reproductions.lisa.models.rates import asked_of_rates, mark

TRIED = sorted({*CANDIDATES, *(lr for rates in BEYOND.values() for lr in rates)})


task = Task(
    "lisa/pilot_rates",
    own_kind="ablation",
    reads=(pilots,),
    table=table.PILOTS,
    layout=Layout(
        rows=table.lines(*TUNED),
        columns=tuple(Line(f"{lr:g}", group="learning rate", where={"lr": lr}) for lr in TRIED),
        cell=Cell("loss", unit="nats", digits=3, remark=mark),
        title="Validation loss by learning rate",
        notes=(
            "One seed that no other run has. Where a method's best rate was the least or the"
            " greatest of those tried, further ones were.",
        ),
        ours=True,
    ),
    claims=claims("ours, on the choice of rates", asked_of_rates(RATES, "method")),
    figure="figures:rates",
    caption="Validation loss against the learning rate, at a seed that no other run has: each"
    " method's later runs have the rate of its least loss.",
    alt="Validation loss against learning rate, one line per method.",
)
