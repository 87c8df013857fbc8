"""Table 5: GSM8K and PubMedQA of the largest model, by method. Its MT-Bench column is Table 9's."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.old import old_task
from reproductions.lisa.lm_benchmarks.experiment import base, experiment, given_70b
from reproductions.lisa.lm_benchmarks.table import (
    COLUMNS,
    least_lead,
    of_paper,
    scorer_agrees,
    table_of,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

WHERE = "Table 5 and section 4.3"
NAMES = {"gsm8k": "GSM8K (strict match)", "pubmedqa": "PubMedQA"}
CLAIMS = (
    scorer_agrees(where=WHERE),
    *(
        of_paper(
            f"lisa_at_least_lora_{task}",
            f"On {name} LISA's accuracy is at least LoRA's.",
            where=WHERE,
            form="at_least",
            quantity=partial(least_lead, one="lisa", other="lora", task=task),
            bound=0.0,
        )
        for task, name in NAMES.items()
    ),
    of_paper(
        "full_at_least_lisa_gsm8k",
        "On GSM8K (strict match) full training's accuracy is at least LISA's.",
        where=f"{WHERE}; the direction is a remark by others, not seen in the paper",
        form="at_least",
        quantity=partial(least_lead, one="full", other="lisa", task="gsm8k"),
        bound=0.0,
    ),
)


def draw(context: FigureContext) -> Figure:
    """Draw one panel a benchmark, GSM8K with both filters."""
    from reproductions.lisa.lm_benchmarks.figures import accuracy_panels

    panels = {
        ("gsm8k", "exact_match strict-match"): "GSM8K, strict",
        ("gsm8k", "exact_match flexible-extract"): "GSM8K, flexible",
        ("pubmedqa", "acc"): "PubMedQA",
    }
    return accuracy_panels(context, panels=panels)


task = old_task(
    id="lisa/tab05",
    title="GSM8K and PubMedQA of the largest model, by method",
    reads=(base, experiment, given_70b),
    columns=COLUMNS,
    claims=CLAIMS,
    view=table_of("gsm8k", "pubmedqa"),
    figure=draw,
    caption="Accuracy by lm-eval, without examples in the prompt; GSM8K's number is taken after its"
    " mark (strict) or is the last one (flexible). Bars: standard error over documents, mean over"
    " seeds of the fine-tuning (of ours one). Dotted: guessing. The in-house model stands where the"
    " paper has LLaMA-2-70B, whose values are not at hand; MT-Bench is in Table 9.",
    alt="Three panels: GSM8K by two filters and PubMedQA, with the accuracy of the untuned model"
    " and of four ways to fine-tune it, and a dotted line at the level of guessing.",
)
