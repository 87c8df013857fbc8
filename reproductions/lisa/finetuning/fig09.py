"""Figure 9: training loss by the sampling period."""

from __future__ import annotations

from harness.declare import Task, bind
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.claims import ONE_RATE, SPREAD
from reproductions.lisa.finetuning.experiment import runs

task = Task(
    "lisa/fig09",
    reads=(runs,),
    table=table.curves_at_one_rate(column="layer_seed", value=0),
    figure=bind("figures:lisa_curves", column="period", label="K =", title="LISA, gamma 2"),
    caption=f"LISA with two blocks, redrawn every K steps; means over 13 steps. {ONE_RATE}"
    f" {SPREAD} Its claims stand at Table 6, which has the losses on one held-out split.",
    alt="Training loss against steps, one line per sampling period.",
)
