"""Table 15, its predicted half: LLaMA-65B by batch per GPU."""

from functools import partial

from harness.declare import Task, claims, more_than
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import predictions
from reproductions.paro.predictions.table import BEST_LAYOUT, split_layout, sweep_layout, table_of

MODEL = "LLaMA-65B"

task = Task(
    "paro/tab15",
    reads=(predictions,),
    table=table_of(about="accumulation", model=MODEL),
    layout=(BEST_LAYOUT, sweep_layout(MODEL, 64), split_layout(MODEL)),
    claims=claims(
        "appendix A.4.3",
        (
            "best_iig_over_best_zero3",
            q.SET,
            more_than(
                partial(q.best_over_best, one="IIG", over="GGG"), 1, "times the speed"
            ).beside_derived(partial(q.quoted_ratio, series=f"{MODEL} IIG", over="GGG")),
            "By the formulas IIG's best speed over batches is above ZeRO-3's best.",
        ),
    ),
)
