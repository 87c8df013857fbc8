"""Table 2: MMLU, AGIEval and WinoGrande before and after fine-tuning, by method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.old import old_task
from reproductions.lisa.lm_benchmarks.experiment import base, experiment, given
from reproductions.lisa.lm_benchmarks.table import (
    COLUMNS,
    cells_won,
    largest_fall,
    of_paper,
    scorer_agrees,
    table_of,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

WHERE = "Table 2 and section 4.2"
CLAIMS = (
    scorer_agrees(where=WHERE),
    of_paper(
        "lisa_best_in_most",
        "LISA is the best tuned method, or within one standard error of it, in at least five of"
        " the nine cells of model and benchmark.",
        where=WHERE,
        form="at_least",
        quantity=cells_won,
        bound=5.0,
        unit="cells",
    ),
    of_paper(
        "none_forgets",
        "No fine-tuning lowers an accuracy by more than five points (largest fall over models,"
        " benchmarks and methods).",
        where=WHERE,
        form="at_most",
        quantity=largest_fall,
        bound=0.05,
    ),
)


def draw(context: FigureContext) -> Figure:
    """Draw one panel a benchmark."""
    from reproductions.lisa.lm_benchmarks.figures import accuracy_panels

    titles = {"mmlu": "MMLU", "agieval": "AGIEval", "winogrande": "WinoGrande"}
    panels = {(task, "acc"): title for task, title in titles.items()}
    return accuracy_panels(context, panels=panels)


task = old_task(
    id="lisa/tab02",
    title="MMLU, AGIEval and WinoGrande by method",
    reads=(base, experiment, given),
    columns=COLUMNS,
    claims=CLAIMS,
    view=table_of("mmlu", "agieval", "winogrande"),
    figure=draw,
    caption="Accuracy by lm-eval, without examples in the prompt. Bars: standard error over"
    " documents, mean over seeds of the fine-tuning (of ours one). Dotted: guessing. The paper's"
    " values are not at hand.",
    alt="Three panels, one a benchmark, with the accuracy of the untuned model and of four ways to"
    " fine-tune it, and a dotted line at the level of guessing.",
)
