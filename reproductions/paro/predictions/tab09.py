"""Table 9: predicted speed and memory of LLaMA-65B."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_least, at_most, claims, equal
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.checks import memory_checks
from reproductions.paro.predictions.experiment import COMPARED, HPZ, predictions
from reproductions.paro.predictions.layouts import guideline_layouts
from reproductions.paro.predictions.scopes import CHOSEN_BY_IT, FORMULA, LEFT_OVER
from reproductions.paro.predictions.table import table_of

FULL: q.Where = {"trainable": "1", "world": "flat"}
PART: q.Where = {"trainable": "1/16", "world": "flat"}
SHARES = {"1": "all parameters", "1/16": "1/16 trainable", "3/1000": "3/1000 trainable"}

task = Task(
    "paro/tab09",
    reads=(predictions,),
    table=table_of(about="guideline", model="LLaMA-65B"),
    layout=guideline_layouts(SHARES),
    claims=claims(
        "the text on IIG and NIG and section 4.3, on memory",
        *memory_checks(said=", as the text says of 1/16"),
        (
            "fits_at_65b_full",
            FORMULA,
            equal(
                partial(
                    q.unlike_fits,
                    fitting=("GGG", HPZ, "IGG", "IIG"),
                    among=COMPARED,
                    where=FULL,
                ),
                0,
                "strategies",
            ),
            "LLaMA-65B, all parameters: of the ten that are compared just ZeRO-3, ZeRO++, IGG and"
            " IIG fit 80 GB (how many are otherwise).",
        ),
    )
    + claims(
        "section 4.3, on what the guideline recommends",
        (
            "best_at_65b_full",
            LEFT_OVER,
            at_most(partial(q.rank_of, name="IIG", where=FULL), 1, "place"),
            "LLaMA-65B, all parameters: IIG, which the text singles out, is the best that fits.",
        ),
        (
            "best_two_at_65b_sixteenth",
            FORMULA.constructed(CHOSEN_BY_IT),
            at_least(partial(q.named_among_best, named=("III", "IIG"), where=PART), 2, "of 2"),
            "LLaMA-65B, 1/16 of the parameters: III and IIG, which the text singles out, are the"
            " best two that fit.",
        ),
    ),
)  # fmt: skip
