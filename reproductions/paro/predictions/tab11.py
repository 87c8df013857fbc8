"""Table 11, its predicted half: all parameters trained."""

from __future__ import annotations

from harness.declare import Task, claims
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import predictions
from reproductions.paro.predictions.gains import faster, faster_shared
from reproductions.paro.predictions.layouts import ROWS_OURS, gain_layout
from reproductions.paro.predictions.table import table_of

SMALL: q.Where = {"model": "LLaMA-7B"}

task = Task(
    "paro/tab11",
    reads=(predictions,),
    table=table_of(about="guideline", trainable="1"),
    layout=gain_layout("1", "LLaMA-7B", "LLaMA-65B", rows=ROWS_OURS),
    claims=claims(
        "section 4.3",
        # The ratio is that of LLaMA-65B too: where all parameters train, none of them is in it.
        faster("iig_over_zero3_7b", "IIG", "ZeRO-3", SMALL, "LLaMA-7B, all parameters"),
        faster("nii_over_zero2_7b", "NII", "ZeRO-2", SMALL, "LLaMA-7B, all parameters"),
    )
    + claims("ours, beside section 4.3", faster_shared("1")),
)
