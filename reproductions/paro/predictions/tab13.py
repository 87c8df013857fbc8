"""Table 13, its predicted half: 3/1000 of the parameters trained."""

from functools import partial

from harness.declare import Task, at_most, claims, ordering
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import HPZ, ONE_RING, predictions
from reproductions.paro.predictions.table import THREE_ROWS, gain_layout, table_of

task = Task(
    "paro/tab13",
    reads=(predictions,),
    table=table_of(about="guideline", trainable="3/1000"),
    layout=gain_layout("3/1000", "LLaMA-65B", rows=THREE_ROWS),
    claims=claims(
        "section 4.3 and Table 13",
        (
            "zeropp_lies_between",
            q.SET,
            ordering(
                partial(q.steps_per_s, names=("GGG", HPZ, "ING"), where=ONE_RING),
                "1/s",
                strict=True,
            ).naming("ZeRO++ over ZeRO-3", "ING over ZeRO++"),
            "By the formulas ZeRO++ is faster than ZeRO-3, and ING faster than ZeRO++.",
        ),
    )
    + claims(
        "ours, beside section 4.3 and Table 13",
        (
            "ing_is_best",
            q.FORMULA.asked_by_us(),
            at_most(partial(q.rank_of, name="ING", where=ONE_RING), 1, "place"),
            "ING is the guideline's first choice where 3/1000 of the parameters train.",
        ),
    ),
)
