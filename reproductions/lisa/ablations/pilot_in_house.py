"""Pilots on the in-house model: validation loss of every setting at every learning rate."""

from __future__ import annotations

from harness.declare import Cell, Layout, Line, Task
from reproductions.lisa.ablations import table
from reproductions.lisa.ablations.experiment import pilots
from reproductions.lisa.finetuning.experiment import LRS
from reproductions.lisa.models.rates import mark

BY_RATE = tuple(Line(f"{lr:g}", group="learning rate", where={"lr": lr}) for lr in LRS)
task = Task(
    "lisa/pilot_in_house",
    own_kind="ablation",
    reads=(pilots,),
    table=table.PILOTS,
    layout=Layout(
        rows=table.LINES,
        columns=BY_RATE,
        cell=Cell("validation_loss", unit="nats", digits=3, remark=mark),
        title="Validation loss by learning rate",
        notes=("Two seeds that no other run has.",),
        ours=True,
    ),
    figure="figures:rates",
    caption="Validation loss against the learning rate, at seeds that no other run has: each"
    " setting's later runs have the rate of its least mean loss. Bars: standard error.",
    alt="Validation loss against learning rate, one line per setting of LISA.",
)
