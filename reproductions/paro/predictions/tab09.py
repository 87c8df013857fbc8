"""Table 9: predicted speed and memory of LLaMA-65B."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_least, at_most, claims, equal
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import COMPARED, HPZ, ONE_RING, SHARED, predictions
from reproductions.paro.predictions.layouts import guideline_layouts
from reproductions.paro.predictions.scopes import FORMULA, SET
from reproductions.paro.predictions.table import table_of

TWO = ("III", "IIG")
FULL: q.Where = {"trainable": "1"}
PART: q.Where = {"trainable": "1/16"}
SHARES = {"1": "all parameters", "1/16": "1/16 trainable", "3/1000": "3/1000 trainable"}

task = Task(
    "paro/tab09",
    reads=(predictions,),
    table=table_of(about="guideline", model="LLaMA-65B"),
    layout=guideline_layouts(SHARES),
    claims=claims(
        "section 4.3, on memory",
        (
            "fits_at_65b_full",
            FORMULA,
            equal(
                partial(
                    q.unlike_fits,
                    fitting=("GGG", HPZ, "IGG", "IIG"),
                    among=COMPARED,
                    where={**ONE_RING, **FULL},
                ),
                0,
                "strategies",
            ),
            "LLaMA-65B, all parameters: of those that are compared, FSDP-hsz by either reading,"
            " just ZeRO-3, ZeRO++, IGG and IIG fit 80 GB (how many are otherwise).",
        ),
    )
    + claims(
        "section 4.3, on what the guideline recommends",
        (
            "best_at_65b_full",
            SET,
            at_most(partial(q.rank_of, name="IIG", where={**ONE_RING, **FULL}), 1, "place"),
            "LLaMA-65B, all parameters: IIG, which the text singles out, is the best that fits.",
        ),
    )
    + claims(
        "ours, beside section 4.3: one link that the GPUs of a group share",
        (
            "best_at_65b_full_shared",
            FORMULA.asked_by_us(),
            at_most(partial(q.rank_of, name="IIG", where={**SHARED, **FULL}), 1, "place"),
            "LLaMA-65B, all parameters: IIG is the best that fits where a group shares one link"
            " too.",
        ),
        (
            "best_two_at_65b_sixteenth_shared",
            FORMULA.asked_by_us(),
            at_least(partial(q.named_among_best, named=TWO, where={**SHARED, **PART}), 2, "of 2"),
            "LLaMA-65B, 1/16 of the parameters: III and IIG are the best two that fit where a group"
            " shares one link too.",
        ),
    ),
)
