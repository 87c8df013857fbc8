"""Pilots on the in-house model: validation loss of every setting at every learning rate."""

from __future__ import annotations

from harness.declare import Cell, Layout, Line, Task
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import LRS, PILOTED, pilots
from reproductions.lisa.models.rates import mark

LOSS = Cell("validation_loss", unit="nats", digits=3, remark=mark)


def by_rate(head: str) -> tuple[Line, ...]:
    """Return a column per learning rate."""
    return tuple(Line(f"{lr:g}", group=head, where={"lr": lr}) for lr in LRS)


task = Task(
    "lisa/pilot_in_house",
    own_kind="ablation",
    reads=(pilots,),
    table=table.PILOTS,
    layout=Layout(
        rows=table.lines(*PILOTED),
        columns=by_rate("learning rate"),
        cell=LOSS,
        title="Validation loss by learning rate",
        notes=("Two seeds that no other run has.",),
        ours=True,
    ),
    figure="figures:method_rates",
    caption="Validation loss against the learning rate, at seeds that no other run has: each"
    " setting's later runs have the rate of its least mean loss. LISA's other settings are in the"
    " table alone. Bars: standard error.",
    alt="Validation loss against learning rate, one line per method.",
)
