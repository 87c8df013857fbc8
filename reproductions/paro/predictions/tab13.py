"""Table 13, its predicted half: 3/1000 of the parameters trained."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_most, claims, ordering, within
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import HPZ, ONE_RING, SHARED, predictions
from reproductions.paro.predictions.gains import faster, faster_shared
from reproductions.paro.predictions.layouts import THREE_ROWS, gain_layout
from reproductions.paro.predictions.scopes import FORMULA, NEAR, SET
from reproductions.paro.predictions.table import table_of

task = Task(
    "paro/tab13",
    reads=(predictions,),
    table=table_of(about="guideline", trainable="3/1000"),
    layout=gain_layout("3/1000", "LLaMA-65B", rows=THREE_ROWS),
    claims=claims(
        "section 4.3",
        faster(
            "ing_over_zero3", "ING", "ZeRO-3", {"model": "LLaMA-65B"}, "LLaMA-65B, 3/1000 trainable"
        ),
    )
    + claims(
        "ours, beside section 4.3 and Table 13",
        (
            "hpz_between",
            SET,
            ordering(
                partial(q.steps_per_s, names=("GGG", HPZ, "ING"), where=ONE_RING),
                "1/s",
                strict=True,
            ).naming("ZeRO++ over ZeRO-3", "ING over ZeRO++"),
            "By communication alone ZeRO++ lies between: ZeRO-3 is slower than it, ING faster.",
        ),
        (
            "ing_near_iig",
            NEAR,
            within(
                partial(q.speed_ratio, one="IIG", over="ING", where=ONE_RING), 0.95, 1.05,
                "times the speed",
            ),
            "IIG is as fast as ING, to 5 %.",
        ),
        (
            "ing_best_of_eight",
            FORMULA.asked_by_us(),
            at_most(partial(q.rank_of, name="ING", where=ONE_RING), 1, "place"),
            "ING, which the text singles out, is by communication alone the best that fits of the"
            " eight strategies, of which the paper's table has two.",
        ),
        (
            "ing_best_of_eight_shared",
            FORMULA.asked_by_us(),
            at_most(partial(q.rank_of, name="ING", where=SHARED), 1, "place"),
            "ING is by communication alone the best that fits of the eight where the GPUs of a"
            " group share one link.",
        ),
        faster_shared("3/1000"),
    ),
)  # fmt: skip
