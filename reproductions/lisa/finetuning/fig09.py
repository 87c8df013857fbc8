"""Figure 9: training loss by the sampling period."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, bind, claims, within
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import PERIOD, runs

task = Task(
    "lisa/fig09",
    reads=(runs,),
    table=table.curves("train", methods=("lisa",), periods=table.ALL_PERIODS, rates="fixed"),
    claims=claims(
        "Figure 9",
        (
            "periods_13_and_25_alike",
            q.TRAINED,
            within(
                partial(q.smoothed_difference, one={"period": PERIOD}, other={"period": 25}),
                -0.02,
                0.02,
                "nats",
            ).measuring("loss with K = 13 less that with K = 25"),
            "With K = 13 and with K = 25 the training loss ends alike.",
        ),
    ),
    figure=bind(
        "figures:lisa_curves", column="period", label="K =", title=r"LLaMA-2-7B, $\gamma$ = 2"
    ),
    caption=f"LISA with two blocks, drawn anew every K steps; means over 13 steps. {q.ONE_RATE}"
    f" {q.SPREAD}",
    alt="Training loss against steps, one line per sampling period.",
)
