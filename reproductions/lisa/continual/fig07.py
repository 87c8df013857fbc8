"""Figure 7: accuracy after continual pre-training against the number of blocks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.old import old_task
from reproductions.lisa.continual.claims import on_gsm8k_itself, on_word_problems
from reproductions.lisa.continual.experiment import experiment
from reproductions.lisa.continual.memory import half_of
from reproductions.lisa.continual.quantities import lead_in_errors, rank_correlation
from reproductions.lisa.continual.table import RUN_COLUMNS, runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

WHERE = "Figure 7, on continual pre-training"

CLAIMS = (
    on_word_problems(
        "accuracy_rises_with_gamma",
        "LISA solves more test problems the more blocks train at once (Spearman's correlation over"
        " three numbers of blocks).",
        where=WHERE,
        form="at_least",
        quantity=rank_correlation,
        bound=0.5,
        unit="correlation",
    ),
    on_word_problems(
        "quarter_as_accurate_as_full",
        "LISA with a quarter of the blocks solves as many test problems as full training, within"
        " one standard error of full training's accuracy.",
        where=WHERE,
        form="within",
        quantity=partial(lead_in_errors, gamma=half_of("tiny-quality") // 2),
        bound=(-1.0, 1.0),
        unit="standard errors",
    ),
    on_gsm8k_itself(
        "quarter_as_accurate_as_full_on_gsm8k",
        "On GSM8K itself, LLaMA-2-7B after continual pre-training by LISA with 8 blocks is no less"
        " accurate than by full training, minus one standard error.",
        where=WHERE,
    ),
)


def draw(context: FigureContext) -> Figure:
    """Draw accuracy by gamma, with full training's level."""
    from reproductions.lisa.continual.figures import accuracy_by_gamma

    return accuracy_by_gamma(context)


task = old_task(
    id="lisa/fig07",
    title="Accuracy on word problems against gamma after continual pre-training",
    reads=(experiment,),
    columns=RUN_COLUMNS,
    claims=CLAIMS,
    view=runs,
    figure=draw,
    caption="Test problems solved after continual pre-training and fine-tuning, by the number of"
    " blocks that train at once (of eight), each method at its rate chosen on validation problems."
    " Line: mean over seeds; small dots: seeds; dashed: full training, its band the standard error"
    " over three seeds. The problems are ours, not GSM8K.",
    alt="Accuracy of LISA against gamma from one to four, a dot a seed with a line through the"
    " means, beside a horizontal dashed line for full training.",
)
