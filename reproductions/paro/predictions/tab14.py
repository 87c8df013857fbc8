"""Table 14, its predicted half: LLaMA-7B by micro-batch and accumulation."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, claims, more_than
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import SPLITS, predictions
from reproductions.paro.predictions.gains import faster
from reproductions.paro.predictions.layouts import NNI_LAYOUT, split_layout, sweep_layout
from reproductions.paro.predictions.scopes import EXACT
from reproductions.paro.predictions.table import table_of

MODEL = "LLaMA-7B"
ONE_SPLIT: q.Where = {"model": MODEL, "micro_batch": 27, "accumulation": 20}

task = Task(
    "paro/tab14",
    reads=(predictions,),
    table=table_of(about="accumulation", model=MODEL),
    layout=(NNI_LAYOUT, split_layout(MODEL), sweep_layout(MODEL, 32)),
    claims=claims(
        "appendix A.4.3",
        faster(
            "nni_over_zero1",
            "NNI",
            "ZeRO-1",
            ONE_SPLIT,
            "LLaMA-7B, all parameters, 540 sequences per GPU and step, however split",
        ),
    )
    + claims(
        "appendix A.3, formulas 1 and 2",
        (
            "more_micro_batches_are_faster",
            EXACT,
            more_than(partial(q.least_rise, names=("IIG", "NIG")), 1, "ratio"),
            "At one micro-batch size IIG and NIG take more samples per second, the more of them a"
            " step has (least factor).",
        ),
        (
            "larger_micro_batch_helps_zero3_more",
            EXACT,
            more_than(
                partial(q.helped_more, one="GGG", than="IIG", splits=SPLITS[MODEL]), 1, "ratio"
            ),
            "At one batch per GPU a larger micro-batch, with fewer of them, speeds up ZeRO-3 more"
            " than IIG (least ratio of factors).",
        ),
    ),
)
