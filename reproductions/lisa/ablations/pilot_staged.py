"""Pilots on models that others trained: validation loss of Figure 6's methods at every rate."""

from __future__ import annotations

from harness.declare import Cell, Layout, Line, Task
from reproductions.lisa.ablations import table
from reproductions.lisa.ablations.experiment import (
    STAGED_METHODS,
    STAGED_RANKS,
    staged_pilots,
)
from reproductions.lisa.ablations.pilot_in_house import BY_RATE
from reproductions.lisa.models.names import LABELS, STAGED
from reproductions.lisa.models.rates import mark
from reproductions.lisa.models.stand_ins import FIGURE_6

RANKS = " and ".join(map(str, STAGED_RANKS.values()))
task = Task(
    "lisa/pilot_staged",
    own_kind="ablation",
    reads=(staged_pilots,),
    table=table.PILOTS,
    layout=Layout(
        rows=tuple(
            Line(LABELS[method], group=FIGURE_6[model], where={"model": model, "method": method})
            for model in STAGED
            for method in STAGED_METHODS
        ),
        columns=BY_RATE,
        cell=Cell("validation_loss", unit="nats", digits=3, remark=mark),
        title="Validation loss by learning rate",
        notes=(
            "Two seeds that no other run has. LISA trains one block at a time; LoRA has the ranks"
            f" {RANKS}, with which it needs no more memory.",
        ),
        ours=True,
    ),
    figure="figures:staged_rates",
    caption="Validation loss against the learning rate, at seeds that no other run has: each"
    " method's later runs have the rate of its least mean loss. Bars: standard error.",
    alt="Validation loss against learning rate, one line per model and method.",
)
