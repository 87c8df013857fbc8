"""Figure 8: training loss by the number of blocks that train at once."""

from harness.declare import CHECK, SMOKE_AND_CPU, Task, bind, claims, equal
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import runs

task = Task(
    "lisa/fig08",
    reads=(runs,),
    table=table.curves("train", "full", "blocks_0", "usual", "blocks_4", "all_blocks"),
    claims=claims(
        "Algorithm 1 with gamma = N_L",
        (
            "all_blocks_is_full",
            CHECK.at(*SMOKE_AND_CPU),
            equal(q.all_blocks_gap, 0, "nats").measuring("largest difference of the losses"),
            "With all blocks at once LISA is full training, step by step.",
        ),
    )
    + claims(
        "Figure 8",
        (
            "more_blocks_less_loss",
            q.TRAINED,
            q.no_higher(
                "blocks_4", "usual", "loss with four blocks less that with two", loss=q.smoothed
            ),
            "With four blocks the training loss ends no higher than with two.",
        ),
    ),
    figure=bind(
        "figures:lisa_curves", column="gamma", label=r"$\gamma$ =", title="LLaMA-2-7B, K = 13"
    ),
    caption="LISA with K = 13; means over 13 steps. With gamma = 8 all eight blocks train, as in"
    f" full training. {q.OWN_RATE} {q.SPREAD}",
    alt="Training loss against steps, one line per number of blocks trained at once.",
)
