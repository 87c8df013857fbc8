"""Figure 7: accuracy after continual pre-training against the number of blocks."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, at_least, claims, within
from reproductions.lisa.continual import quantities as q
from reproductions.lisa.continual import table
from reproductions.lisa.continual.experiment import half_of, runs
from reproductions.lisa.models.claims import IN_HOUSE, ON_GSM8K, on_gsm8k, stand_in
from reproductions.lisa.models.names import QUALITY

WHERE = "Figure 7, on continual pre-training"
task = Task(
    "lisa/fig07",
    reads=(runs,),
    table=table.RUNS,
    claims=claims(
        stand_in(WHERE),
        (
            "accuracy_rises_with_gamma",
            IN_HOUSE,
            at_least(q.rank_correlation, 0.5, "correlation"),
            "LISA solves more test problems of GSM8K the more blocks train at once (Spearman's"
            " correlation over three numbers of blocks).",
        ),
        (
            "quarter_as_accurate_as_full",
            IN_HOUSE,
            within(
                partial(q.lead_in_errors, gamma=half_of(QUALITY) // 2), -1, 1, "standard errors"
            ).measuring("accuracy of LISA less that of full training"),
            "LISA with a quarter of the blocks solves as many test problems of GSM8K as full"
            " training, within one standard error of full training's accuracy. The numbers of steps"
            " were set so that full training solves half, which may be too few for LISA.",
        ),
    )
    + claims(
        WHERE,
        (
            "quarter_as_accurate_as_full_on_gsm8k",
            ON_GSM8K,
            at_least(on_gsm8k, -1, "standard errors").measuring(
                "accuracy of LISA less that of full training"
            ),
            "On GSM8K itself, LLaMA-2-7B after continual pre-training by LISA with 8 blocks is at"
            " most one standard error less accurate than by full training.",
        ),
    ),
    figure="figures:accuracy_by_gamma",
    caption="Test problems solved after continual pre-training and fine-tuning, by the number of"
    " blocks that train at once (of eight), each method at its rate chosen on validation problems."
    " Line: mean over seeds; small dots: seeds; dashed: full training, its band the standard error"
    " over three seeds. The problems are ours, not GSM8K.",
    alt="Accuracy of LISA against gamma from one to four, a dot per seed with a line through the"
    " means, beside a horizontal dashed line for full training.",
)
