"""Figure 7: accuracy after continual pre-training against the number of blocks."""

from functools import partial

from harness.declare import Task, at_least, claims, within
from reproductions.lisa.continual import quantities as q
from reproductions.lisa.continual import table
from reproductions.lisa.continual.experiment import half_of, runs
from reproductions.lisa.models.names import QUALITY

task = Task(
    "lisa/fig07",
    reads=(runs,),
    table=table.RUNS,
    claims=claims(
        "Figure 7, on continual pre-training",
        (
            "accuracy_rises_with_gamma",
            q.SOLVING,
            at_least(q.rank_correlation, 0.5, "correlation").measuring(
                "rank correlation of accuracy with gamma"
            ),
            "The more blocks LISA trains at once, the more of GSM8K it solves.",
        ),
        (
            "quarter_as_accurate_as_full",
            q.SOLVING,
            within(
                partial(q.lead, gamma=half_of(QUALITY) // 2), -q.MARGIN, q.MARGIN, "accuracy"
            ).measuring("share of problems that LISA solves less that of full training"),
            "With a quarter of the blocks at once LISA solves as much of GSM8K as full training.",
        ),
    ),
    figure="figures:accuracy_by_gamma",
    caption="Test problems solved after continual pre-training and fine-tuning, by the number of"
    " blocks that train at once, of eight; each method at the rate that its pilots chose."
    " Line: mean over seeds; small dots: seeds; dashed: full training, with its standard error.",
    alt="Accuracy of LISA against gamma from one to four, a dot per seed with a line through the"
    " means, beside a horizontal dashed line for full training.",
)
