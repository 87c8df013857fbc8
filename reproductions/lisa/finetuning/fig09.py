"""Figure 9: training loss by the sampling period."""

from functools import partial

from harness.declare import Task, bind, claims, within
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import runs

task = Task(
    "lisa/fig09",
    reads=(runs,),
    table=table.curves("train", "every_step", "every_5", "usual", "every_25", "once"),
    claims=claims(
        "Figure 9",
        (
            "periods_13_and_25_alike",
            q.TRAINED,
            within(
                partial(q.difference, one="usual", other="every_25", loss=q.smoothed),
                -q.ALIKE,
                q.ALIKE,
                "nats",
            ).measuring("loss with K = 13 less that with K = 25"),
            "With K = 13 and with K = 25 the training loss ends alike.",
        ),
        (
            "training_prefers_period_13",
            q.TRAINED,
            q.no_higher("usual", "once", "loss with K = 13 less that of one draw", loss=q.smoothed),
            "With K = 13 the training loss ends no higher than with blocks drawn once.",
        ),
    ),
    figure=bind(
        "figures:lisa_curves", column="period", label="K =", title=r"LLaMA-2-7B, $\gamma$ = 2"
    ),
    caption="LISA with two blocks, drawn anew every K steps; means over 13 steps."
    f" {q.OWN_RATE} {q.SPREAD}",
    alt="Training loss against steps, one line per sampling period.",
)
