"""Table 8: predicted speed and memory of LLaMA-7B."""

from functools import partial

from harness.declare import Task, at_least, claims
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import ONE_RING, predictions
from reproductions.paro.predictions.table import guideline_layouts, table_of

RECOMMENDED = {"1": ("NII", "IIG", "III"), "1/16": ("NII", "NIG")}
"""By what trains; the text has the first as the guideline's, and singles out the others."""

task = Task(
    "paro/tab08",
    reads=(predictions,),
    table=table_of(about="guideline", model="LLaMA-7B"),
    layout=guideline_layouts({"1": "all parameters", "1/16": "1/16 trainable"}),
    claims=claims(
        "section 4.3, on what the guideline recommends",
        (
            "nii_and_nig_are_best",
            q.FORMULA,
            at_least(
                partial(
                    q.named_among_best,
                    named=RECOMMENDED["1/16"],
                    where={**ONE_RING, "trainable": "1/16"},
                ),
                2,
                "of 2",
            ),
            "The guideline ranks NII and NIG first for LLaMA-7B with 1/16 of the parameters"
            " trained.",
        ),
    )
    + claims(
        "ours, beside section 4.3",
        q.same_best_when_shared(RECOMMENDED, "LLaMA-7B"),
    ),
)
