"""Table 9: predicted speed and memory of LLaMA-65B."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_most, claims, equal
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import COMPARED, HPZ, ONE_RING, predictions
from reproductions.paro.predictions.table import guideline_layouts, table_of

FULL: q.Where = {**ONE_RING, "trainable": "1"}
SINGLED_OUT = {"1": ("IIG",), "1/16": ("III", "IIG"), "3/1000": ("ING",)}
SHARES = {"1": "all parameters", "1/16": "1/16 trainable", "3/1000": "3/1000 trainable"}

task = Task(
    "paro/tab09",
    reads=(predictions,),
    table=table_of(about="guideline", model="LLaMA-65B"),
    layout=guideline_layouts(SHARES),
    claims=claims(
        "section 4.3, on memory",
        (
            "four_fit_in_80_gb",
            q.FORMULA,
            equal(
                partial(
                    q.unlike_fits,
                    fitting=("GGG", HPZ, "IGG", "IIG"),
                    among=COMPARED,
                    where=FULL,
                ),
                0,
                "strategies",
            ).measuring("strategies of which it is otherwise"),
            "Of the strategies that section 4.3 compares, only ZeRO-3, ZeRO++, IGG and IIG train"
            " all of LLaMA-65B in 80 GB.",
        ),
    )
    + claims(
        "section 4.3, on what the guideline recommends",
        (
            "iig_is_best",
            q.SET,
            at_most(partial(q.rank_of, name="IIG", where=FULL), 1, "place"),
            "IIG is the fastest strategy that trains all of LLaMA-65B.",
        ),
    )
    + claims(
        "ours, beside section 4.3",
        q.same_best_when_shared(SINGLED_OUT, "LLaMA-65B"),
    ),
)
