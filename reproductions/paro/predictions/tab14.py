"""Table 14, its predicted half: LLaMA-7B by micro-batch and accumulation."""

from __future__ import annotations

from functools import partial

from harness.declare import SMALL_CHECK, Task, claims, more_than
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import ONE_RING, SPLITS, predictions
from reproductions.paro.predictions.table import NNI_LAYOUT, split_layout, sweep_layout, table_of

MODEL = "LLaMA-7B"
ONE_SPLIT: q.Where = {"model": MODEL, "micro_batch": 27, "accumulation": 20}

task = Task(
    "paro/tab14",
    reads=(predictions,),
    table=table_of(about="accumulation", model=MODEL),
    layout=(NNI_LAYOUT, split_layout(MODEL), sweep_layout(MODEL, 32)),
    claims=claims(
        "appendix A.4.3",
        (
            "nni_over_zero1",
            q.SET,
            more_than(
                partial(q.speed_ratio, one="NNI", over="NNG", where={**ONE_RING, **ONE_SPLIT}),
                1,
                "times the speed",
            ).beside_derived(partial(q.quoted_ratio, series=f"{MODEL} NNI", over="ZeRO-1")),
            "By the formulas NNI is faster than ZeRO-1 at 540 sequences per GPU and step.",
        ),
    )
    + claims(
        "appendix A.3, formulas 1 and 2",
        (
            "accumulation_pays",
            SMALL_CHECK,
            more_than(
                partial(
                    q.accumulation_gains, faster=("IIG", "NIG"), helped="GGG", splits=SPLITS[MODEL]
                ),
                1,
                "ratio",
            ).naming("more micro-batches", "larger micro-batches"),
            "More micro-batches per step speed up IIG and NIG; larger ones help ZeRO-3 more than"
            " IIG.",
        ),
    ),
)
