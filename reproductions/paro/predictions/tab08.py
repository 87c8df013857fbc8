"""Table 8: predicted speed and memory of LLaMA-7B."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_least, claims
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import ONE_RING, SHARED, predictions
from reproductions.paro.predictions.layouts import guideline_layouts
from reproductions.paro.predictions.scopes import FORMULA
from reproductions.paro.predictions.table import table_of

THREE, TWO = ("NII", "IIG", "III"), ("NII", "NIG")
FULL: q.Where = {"trainable": "1"}
PART: q.Where = {"trainable": "1/16"}

task = Task(
    "paro/tab08",
    reads=(predictions,),
    table=table_of(about="guideline", model="LLaMA-7B"),
    layout=guideline_layouts({"1": "all parameters", "1/16": "1/16 trainable"}),
    claims=claims(
        "section 4.3, on what the guideline recommends",
        (
            "best_two_at_7b_sixteenth",
            FORMULA,
            at_least(partial(q.named_among_best, named=TWO, where={**ONE_RING, **PART}), 2, "of 2"),
            "LLaMA-7B, 1/16 of the parameters: NII and NIG, which the text singles out, are the"
            " best two.",
        ),
    )
    + claims(
        "ours, beside section 4.3: one link that the GPUs of a group share",
        (
            "best_three_at_7b_full_shared",
            FORMULA.asked_by_us(),
            at_least(partial(q.named_among_best, named=THREE, where={**SHARED, **FULL}), 3, "of 3"),
            "LLaMA-7B, all parameters: NII, IIG and III are the best three where a group shares one"
            " link too.",
        ),
        (
            "best_two_at_7b_sixteenth_shared",
            FORMULA.asked_by_us(),
            at_least(partial(q.named_among_best, named=TWO, where={**SHARED, **PART}), 2, "of 2"),
            "LLaMA-7B, 1/16 of the parameters: NII and NIG are the best two where a group shares"
            " one link too.",
        ),
    ),
)
