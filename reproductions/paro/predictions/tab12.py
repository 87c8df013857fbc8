"""Table 12, its predicted half: 1/16 of the parameters trained."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_least, claims
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import ONE_RING, predictions
from reproductions.paro.predictions.gains import faster, faster_shared
from reproductions.paro.predictions.layouts import ROWS_OURS, gain_layout
from reproductions.paro.predictions.scopes import SET
from reproductions.paro.predictions.table import table_of

SMALL: q.Where = {"model": "LLaMA-7B"}
LARGE: q.Where = {"model": "LLaMA-65B"}

task = Task(
    "paro/tab12",
    reads=(predictions,),
    table=table_of(about="guideline", trainable="1/16"),
    layout=gain_layout("1/16", "LLaMA-7B", "LLaMA-65B", rows=ROWS_OURS),
    claims=claims(
        "section 4.3",
        faster("nig_over_zero2_7b", "NIG", "ZeRO-2", SMALL, "LLaMA-7B, 1/16 trainable"),
        (
            "nii_over_nig_7b",
            SET,
            at_least(
                partial(q.speed_ratio, one="NII", over="NIG", where={**ONE_RING, **SMALL}),
                1,
                "times the speed",
            ),
            "LLaMA-7B, 1/16 trainable: by communication alone NII, with the larger of two quoted"
            " gains, is at least as fast as NIG.",
        ),
        # III sends what IIG does; NII over ZeRO-2 is as in Table 11, for both send trained ones.
        faster("iig_over_zero3_65b", "IIG", "ZeRO-3", LARGE, "LLaMA-65B, 1/16 trainable"),
    )
    + claims("ours, beside section 4.3", faster_shared("1/16")),
)
