"""Table 8: predicted speed and memory of LLaMA-7B."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_least, claims
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.checks import memory_checks
from reproductions.paro.predictions.experiment import predictions
from reproductions.paro.predictions.layouts import guideline_layouts
from reproductions.paro.predictions.scopes import CHOSEN_BY_IT, FORMULA
from reproductions.paro.predictions.table import table_of

FULL: q.Where = {"trainable": "1", "world": "flat"}
PART: q.Where = {"trainable": "1/16", "world": "flat"}

task = Task(
    "paro/tab08",
    reads=(predictions,),
    table=table_of(about="guideline", model="LLaMA-7B"),
    layout=guideline_layouts({"1": "all parameters", "1/16": "1/16 trainable"}),
    claims=claims(
        "the text on IIG and NIG, on memory",
        *memory_checks(),
    )
    + claims(
        "section 4.3, on what the guideline recommends",
        (
            "best_three_at_7b_full",
            FORMULA.constructed(CHOSEN_BY_IT),
            at_least(
                partial(q.named_among_best, named=("NII", "IIG", "III"), where=FULL), 3, "of 3"
            ),
            "LLaMA-7B, all parameters: NII, IIG and III are the best three of eight strategies.",
        ),
        (
            "best_two_at_7b_sixteenth",
            FORMULA,
            at_least(partial(q.named_among_best, named=("NII", "NIG"), where=PART), 2, "of 2"),
            "LLaMA-7B, 1/16 of the parameters: NII and NIG, which the text singles out, are the"
            " best two.",
        ),
    ),
)  # fmt: skip
