"""Table 11, its predicted half: all parameters trained."""

from __future__ import annotations

from harness.declare import Task, claims
from reproductions.paro.predictions.experiment import predictions
from reproductions.paro.predictions.gains import faster
from reproductions.paro.predictions.layouts import gain_layout
from reproductions.paro.predictions.table import table_of

task = Task(
    "paro/tab11",
    reads=(predictions,),
    table=table_of(about="guideline", trainable="1"),
    layout=gain_layout("1", "LLaMA-7B", "LLaMA-65B"),
    claims=claims(
        "section 4.3",
        faster(
            "iig_over_zero3_7b", "IIG", "ZeRO-3", {"model": "LLaMA-7B"}, "LLaMA-7B, all parameters"
        ),
        faster(
            "nii_over_zero2_7b", "NII", "ZeRO-2", {"model": "LLaMA-7B"}, "LLaMA-7B, all parameters"
        ),
        faster(
            "iig_over_zero3_65b",
            "IIG",
            "ZeRO-3",
            {"model": "LLaMA-65B"},
            "LLaMA-65B, all parameters",
        ),
    ),
)
